"""Verifies signatures of requests to S3 (AWS Signature Version 4), from its description alone."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlsplit

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<day>\d{8})/(?P<region>[^/]+)/s3/aws4_request, *"
    r"SignedHeaders=(?P<signed>[\w;-]+), *Signature=(?P<signature>[0-9a-f]{64})$"
)


def canonical(method: str, target: str, headers: Mapping[str, str], signed: list[str]) -> str:
    """The request as both sides write it down before they sign it."""
    parts = urlsplit(target)
    query = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in parse_qsl(parts.query, True))
    values = {name.lower(): " ".join(value.split()) for name, value in headers.items()}
    return "\n".join([
        method,
        quote(unquote(parts.path), safe="/-_.~"),
        "&".join(f"{name}={value}" for name, value in query),
        *(f"{name}:{values[name]}" for name in signed),
        "",
        ";".join(signed),
        values["x-amz-content-sha256"],
    ])  # fmt: skip


def is_signed(method: str, target: str, headers: Mapping[str, str], key: str, secret: str, region: str) -> bool:
    """Whether the request has a signature of this key, over its host, its time and all other fields that S3 demands."""
    found = AUTHORIZATION.match(headers.get("Authorization", ""))
    if not found or (found["key"], found["region"]) != (key, region):
        return False
    signed = found["signed"].split(";")
    demanded = {"host", *(name.lower() for name in headers if name.lower().startswith("x-amz-"))}
    if signed != sorted(signed) or not demanded <= set(signed) or "x-amz-date" not in signed:
        return False
    time = next(value for name, value in headers.items() if name.lower() == "x-amz-date")
    request = hashlib.sha256(canonical(method, target, headers, signed).encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{time}\n{found['day']}/{region}/s3/aws4_request\n{request}"
    signing = f"AWS4{secret}".encode()
    for word in (found["day"], region, "s3", "aws4_request"):
        signing = hmac.new(signing, word.encode(), hashlib.sha256).digest()
    return hmac.compare_digest(hmac.new(signing, text.encode(), hashlib.sha256).hexdigest(), found["signature"])
