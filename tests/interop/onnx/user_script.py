"""A user's program that touches every public name of the package, for checkers of types. It is not run."""

from __future__ import annotations

import numpy as np

import onnxar
import onnxar.inspection
import onnxar.numpy
import onnxar.signing


def reads(path: str) -> float:
    with onnxar.open(path, prefetch="will_need", threads=2) as archive:
        part: onnxar.TensorSlice = archive.get_slice("embedding")
        total = float(part[:10].sum()) + sum(float(array.sum()) for array in archive.values())
        info: onnxar.TensorInfo = archive.info("embedding")
        entries: list[onnxar.Entry] = [*archive.entries(), *onnxar.ls(path)]
        print(onnxar.__version__, info.name, info.shape, [entry.size for entry in entries], len(onnxar.cat(path, "tokenizer.json")))
        for name, array in archive.items():
            print(name, array.dtype, name in archive, archive.get("other"))
    return total


def trusts(path: str) -> str:
    trusted = onnxar.signing.Signature(public_key="key.pub")
    with onnxar.open(path, verify=trusted) as archive:
        digest: onnxar.Digest = onnxar.digest(archive, threads=2)
        return digest.hex + digest.manifest + "".join(digest.entries) + str(archive["w"].sum())


async def reads_later(address: str) -> onnxar.Archive:
    return await onnxar.open_async(address)


def edits(path: str) -> int:
    with onnxar.edit(path) as edit:
        change: onnxar.Edit = edit
        change["w"] = change["w"] * 2
        change.files["labels.json"] = b"[]"
        change.model.producer_name = "me"
    state: onnxar.EarlierState = onnxar.undo(path)
    onnxar.recover(path, dry_run=True)
    done: onnxar.ReplaceReport = onnxar.replace(path, side_files={"a.json": b"{}"}, remove=["labels.json"])
    return state.size + done.entries_added


def converts(model: str, archive: str) -> list[onnxar.Finding]:
    packed: onnxar.ConvertReport = onnxar.pack(model, archive, overwrite=True, progress=lambda done, total: print(done, total))
    onnxar.unpack(archive, "again.onnx")
    repacked: onnxar.RepackReport = onnxar.repack(archive, "aligned.onnxar", alignment=4096)
    frozen: onnxar.FreezeReport = onnxar.freeze(model, "frozen.onnxar")
    tensors: list[onnxar.ExtractedTensor] = onnxar.extract(archive, "layer1.*", "weights/")
    link: onnxar.Link = onnxar.link(archive)
    print(packed.remarks, repacked.entries, frozen.nodes, [each.path for each in tensors], onnxar.verify_link(link))
    onnxar.put(archive, "memory://models/model.onnxar")
    got: onnxar.GetReport = onnxar.get("https://example.com/model.onnxar", "got.onnxar", reuse=[archive], dry_run=True)
    print(got.reused_bytes, got.downloaded_bytes)
    return onnxar.check(archive, data=True)


def loads(path: str) -> bytes:
    onnxar.register()
    model, lazy = onnxar.load(path), onnxar.load_ir(path)
    print(model.graph.name, lazy.producer_name)
    report: onnxar.ConvertReport = onnxar.save(model, "copy.onnxar", overwrite=True)
    onnxar.numpy.save_file({"w": np.ones(3, np.float32)}, "weights.onnxar")
    print(report.file_bytes, onnxar.numpy.load_file("weights.onnxar")["w"].sum(), onnxar.dump(path))
    return onnxar.save(model)


def compares(before: str, after: str) -> bool:
    found: onnxar.Inspection = onnxar.show(after, dims={"batch": 8})
    cost: onnxar.inspection.CostEstimate = found.cost
    difference: onnxar.Difference = onnxar.diff(before, after)
    graph: list[onnxar.GraphChange] = list(difference.graph)
    tensors: list[onnxar.TensorChange] = list(difference.tensors)
    files: list[onnxar.FileChange] = list(difference.files)
    forms: list[onnxar.TensorForm | None] = [each.before for each in tensors]
    data: list[onnxar.DataDifference | None] = [each.data for each in tensors]
    print(cost.multiply_adds, [each.site for each in graph], [each.name for each in files], forms, data)
    return difference.same


def fails(path: str) -> str:
    try:
        onnxar.open(path).close()
    except (onnxar.MissingFileError, onnxar.AccessError, onnxar.OutputExistsError, onnxar.FileError) as error:
        return error.code
    except (onnxar.NotFoundError, onnxar.ArgumentError, onnxar.FormatError) as error:
        return error.message
    except onnxar.Error as error:
        return f"{error.code} {error.entry} {error.offset} {error.path}"
    return ""
