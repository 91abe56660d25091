"""Chooses a variant of a model package with ONNX Runtime's own selector, and gives it to a session."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import onnxruntime as ort  # type: ignore[import-untyped,unused-ignore]

from onnxar._cache import FOLDER, SessionOptions
from onnxar._errors import Error, usage
from onnxar._open import open_archive
from onnxar._package import Package, Variant, listed, shorten

CONTEXT = "ep.context_"  # options about files that providers read and write
OUTPUTS = {"session.debug_layout_transformation", "session.collect_node_memory_stats_to_file", "session.enable_profiling",
           "session.optimized_model_filepath"}  # fmt: skip
Providers = Sequence[Any] | None
Pairs = list[tuple[str, dict[Any, Any]]]


@dataclasses.dataclass(frozen=True)
class Chosen:
    """A variant, and the arguments of its session."""

    variant: str
    graph: str
    options: Any
    providers: Providers


def choose(source: Any, component: str, name: str, options: Any, providers: Providers, provider_options: Any) -> Chosen:
    """Chooses a variant of a component of the package in an archive, or takes the one that is named. Raises usage.argument."""
    for what, given in (("component", component), ("variant", name)):
        if not isinstance(given, str):
            raise usage(f"{what} must be a name, not {type(given).__name__}")
    with open_archive(source) as archive:
        package = Package(archive)
        variants = package.variants(component)
        pairs = None if providers is None else _pairs(providers, provider_options)
        if name:
            variant = next((each for each in variants if each.name == name), None)
        else:
            pairs = pairs and _available(pairs, variants)
            variant = _selected(variants, options, pairs)
        if variant is None:
            raise usage(f"the component has no variant {shorten(name)!r}; its variants: {_described(variants)}", path=archive.path or "")
        executable = package.executable(variant)
        if options is None:
            options = _options_of(executable.session_options)
            pairs = _with_options(pairs, variant.ep, executable.provider_options)
        else:
            _expect_no_files(executable.session_options, options)
        return Chosen(variant.name, executable.graph, options, pairs)


def _pairs(providers: Sequence[Any], provider_options: Any) -> Pairs:
    pairs = [each if isinstance(each, tuple) else (each, {}) for each in providers]
    if not provider_options:
        return pairs
    if len(provider_options) != len(pairs):
        raise usage("providers and provider_options have different lengths")
    return [(name, options) for (name, _), options in zip(pairs, provider_options, strict=True)]


def _devices() -> list[Any]:
    return list(ort.get_ep_devices()) if hasattr(ort, "get_ep_devices") else []


def _known() -> set[str]:
    return {*ort.get_available_providers(), *(device.ep_name for device in _devices())}


def _available(pairs: Pairs, variants: list[Variant]) -> Pairs:
    """Leaves out the providers that ONNX Runtime lacks here, because it selects only for the first one."""
    known = _known()
    found = [pair for pair in pairs if pair[0] in known]
    if pairs and not found:
        raise usage(f"this ONNX Runtime has none of the providers {listed(str(name) for name, _ in pairs)}; variants: {_described(variants)}")
    return found


def _selected(variants: list[Variant], options: Any, pairs: Pairs | None) -> Variant:
    """Returns the variant that ONNX Runtime selects. It sees only what the variants need: no name and no path of the package."""
    if not hasattr(ort, "ModelPackageContext"):
        raise usage(f"ONNX Runtime {ort.__version__} cannot choose a variant, as 1.32 can: name one with `variant`: {_described(variants)}")
    needs = {str(i): {"ep": each.ep, "device": each.device, "compatibility_string": each.compatibility} for i, each in enumerate(variants)}
    stub = {"schema_version": "1.0", "components": {"c": {"variants": {i: _without_empty(need) for i, need in needs.items()}}}}
    with tempfile.TemporaryDirectory(prefix="onnxar_") as folder:
        with open(os.path.join(folder, "manifest.json"), "x") as file:
            json.dump(stub, file)
        try:
            wanted = ort.ModelPackageOptions(_with_provider(pairs[0]) if pairs else options or ort.SessionOptions())
            selected = ort.ModelPackageContext(folder).select_component("c", wanted).get_selected_variant_name()
        except Exception as reason:  # ONNX Runtime's errors have no class in common
            raise _no_match(variants, pairs, reason) from None
    return variants[int(selected)]


def _without_empty(need: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in need.items() if value}


def _with_provider(pair: tuple[str, dict[Any, Any]]) -> ort.SessionOptions:
    """Returns options with one provider. A plugin provider is found by its devices."""
    (name, given), options = pair, ort.SessionOptions()
    values = {str(key): str(value) for key, value in given.items()}
    if name in ort.get_available_providers():
        options.add_provider(name, values)
    else:
        options.add_provider_for_devices([device for device in _devices() if device.ep_name == name], values)
    return options


def _no_match(variants: list[Variant], pairs: Pairs | None, reason: Exception) -> Error:
    why = "" if "No suitable model variant" in str(reason) else f" ({reason})"
    said = f"ONNX Runtime found no variant for {pairs[0][0] if pairs else 'the providers of the session'}{why}"
    return usage(f"{said}: {_described(variants)}; `variant` names one")


def _described(variants: list[Variant]) -> str:
    return listed(map(str, variants), "; ")


def _options_of(entries: dict[str, str]) -> SessionOptions | None:
    """Returns the session options of a variant. ONNX Runtime forbids options that write files, and the archive determines the folder
    of weights."""
    if not entries:
        return None
    options = SessionOptions()
    for key, value in entries.items():
        if key in OUTPUTS or key.startswith(CONTEXT):
            raise _needs_files(key)
        if key != FOLDER:
            _set(options, key, value)
    return options


def _set(options: SessionOptions, key: str, value: str) -> None:
    """Sets an option as ONNX Runtime does for a package: some entries set a member of the options."""
    member, read = _MEMBERS.get(key.removeprefix("session."), ("", str)) if key.startswith("session.") else ("", str)
    try:
        if member:
            setattr(options, member, read(value))
        else:
            options.add_session_config_entry(key, value)
    except (ValueError, KeyError, TypeError, RuntimeError):
        raise usage(f"the variant's session option {shorten(key)!r} cannot be {shorten(value)!r}") from None


def _level(value: str) -> Any:
    return getattr(ort.GraphOptimizationLevel, {f"{each.lower()}": f"ORT_{each}" for each in _LEVELS}[value.lower()])


def _mode(value: str) -> Any:
    return {"sequential": ort.ExecutionMode.ORT_SEQUENTIAL, "parallel": ort.ExecutionMode.ORT_PARALLEL}[value.lower()]


def _truth(value: str) -> bool:
    return {"0": False, "false": False, "1": True, "true": True}[value.lower()]


_LEVELS = ("DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_LAYOUT", "ENABLE_ALL")
_MEMBERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "intra_op_num_threads": ("intra_op_num_threads", int),
    "inter_op_num_threads": ("inter_op_num_threads", int),
    "log_severity_level": ("log_severity_level", int),
    "log_verbosity_level": ("log_verbosity_level", int),
    "log_id": ("logid", str),
    "enable_cpu_mem_arena": ("enable_cpu_mem_arena", _truth),
    "enable_mem_pattern": ("enable_mem_pattern", _truth),
    "use_deterministic_compute": ("use_deterministic_compute", _truth),
    "use_per_session_threads": ("use_per_session_threads", _truth),
    "execution_mode": ("execution_mode", _mode),
    "graph_optimization_level": ("graph_optimization_level", _level),
}


def _with_options(pairs: Pairs | None, ep: str, values: dict[str, str]) -> Pairs | None:
    """Adds the options of the variant to its provider. The caller's options take precedence."""
    if not values or (pairs is None and ep not in _known()):
        return pairs
    return [(name, {**values, **given} if name == ep else given) for name, given in pairs or [(ep, {})]]


def _needs_files(key: str) -> Error:
    return usage(f"the variant sets {key}, which needs files beside the model; unpack the archive")


def _expect_no_files(entries: dict[str, str], options: Any) -> None:
    """Refuses an entry of a variant that names a file, unless the caller's options set it. ONNX Runtime adds nothing else of a
    variant to a caller's options."""
    for key in entries:
        if key == f"{CONTEXT}file_path":
            try:
                options.get_session_config_entry(key)
            except RuntimeError:
                raise _needs_files(key) from None
