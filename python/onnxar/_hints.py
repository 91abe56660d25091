"""Words the library's hints for this package: arguments to pass, functions to call. `{}` stands for a value."""

WORDS = {
    "output.overwrite": "choose another name, or pass overwrite=True to replace it",
    "data.folder": "put it beside the model, or name its folder with data_dir",
    "data.folder_of_bytes": "name one with data_dir",
    "data.beside": "append_external=True takes data from files beside the model",
    "limit.expansion": "if you trust it, a higher max_expansion allows more",
    "limit.expansion_of": "if you trust it, raise the limit: max_expansion={}",
    "crc.not_as_accepted": "leave it out of accept_crc",
    "rename.entry": "rename={{OLD: NEW}} gives it another one",
    "save.external_data": "external_data keeps the weights in a file beside the model",
    "save.threshold": "a lower threshold moves more tensors out of it",
    "save.threshold_or_all_sites": "a lower threshold or all_sites=True moves more tensors out of it",
    "save.not_as_text": "written in binary form, its data may be in a file beside it",
    "extract.raw": "raw=True writes its bytes",
    "load.text_parser": "convert the model to binary form",
    "payload.load_or_set": "make its external data available",
    "payload.set": "give the tensor its data",
    "payload.share": "give the tensor its data",
    "payload.set_large": "a lower threshold moves more tensors out of them",
    "writer.add_entry_first": "add that entry before the model",
    "runtime.link": "onnxar.link leaves the data in the archive",
    "pack.it": "onnxar.pack makes an archive of it",
    "pack.or_rename": "onnxar.pack makes an archive of it, or name it .onnx",
    "pack.anew": "onnxar.pack makes a new archive",
    "pack.own_data": "onnxar.pack makes an archive in which the tensor has data of its own",
    "pack.aligns": "onnxar.pack aligns it",
    "pack.leaves_out": "onnxar.pack leaves it out",
    "pack.moves_tensors": "onnxar.pack moves its tensors out of it",
    "pack.threshold": "onnxar.pack with a lower threshold moves more tensors out of it",
    "pack.names_tensors": "onnxar.pack does, and gives the entries of tensors new names",
    "pack.names_entries": "onnxar.pack gives the entries of tensors new names and, with rename, other entries as well",
    "repack.plain_zip": "this is a plain zip or was changed by a zip tool: onnxar.repack makes an archive of it",
    "repack.shortens": "onnxar.repack shortens it",
    "repack.accept_crc": "compare it with its source, and onnxar.repack with accept_crc=[{}] states the CRC-32 that it has",
    "repack.side_file": "a file NAME.onnx in the root is a graph of the archive: if this one is something else, onnxar.repack with "
    'rename={{"{}": "extra/{}"}} makes a side file of it',
    "repack.rename": "rename the file, or the entry with onnxar.repack and rename={{{}: NEW}}",
    "unpack.unnamed": "another name is possible, and onnxar.unpack writes a model without any",
    "unpack.model_alone": "onnxar.unpack to a file instead of a folder writes the model alone, or remove files with a zip tool",
    "archive.make_anew": "fetch it again, or make it anew with onnxar.pack or onnxar.repack",
    "link.again": "make the link again with onnxar.link",
    "recover.cuts": "onnxar.recover cuts off the rest",
    "list.entries": "onnxar.open lists them",
    "dump.strings": "their values are in the tensor's string_data",
    "dump.or_freeze": "onnxar.freeze with weights fills them in",
}


def in_words(hint: str, value: str) -> str:
    """Returns the advice as a clause of a sentence; "" without advice."""
    return WORDS.get(hint, "").format(value, value)  # values beyond those that the words ask for are ignored
