"""Archives that a reader accepts: the containers. Those of valid_models.py are about models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import wire
from builder import SENTINEL32, Archive, Entry, zip64_field
from vector import Valid, content, model, sample, side_file, weight

UNNEEDED = ("zip.zip64.unneeded",)
EDITED = ("archive.tail.superseded",)
EDITED_MODEL = wire.model()


def vectors() -> Iterator[Valid]:
    yield Valid("smallest", "The model alone, as the specification dumps it.", Archive([model()]))
    yield Valid("typical", "Two tensors, linked, as a writer lays them out.", typical())
    yield from alignments()
    yield from names()
    yield from free_fields()
    yield from contents()
    yield from zip64_fields()
    yield from zip64_ends()
    yield from edits()
    yield from limits()


def typical() -> Archive:
    data = wire.model_of(wire.linked("a"), wire.linked("b"))
    return Archive([weight("a"), weight("b"), model(data)])


# --- places --------------------------------------------------------------------------------------


def alignments() -> Iterator[Valid]:
    for alignment in (128, 4096):
        entries = [side_file(alignment=alignment), model(alignment=alignment)]
        about = f"Every entry is aligned to {alignment}."
        yield Valid(f"alignment_{alignment}", about, Archive(entries))
    about = "The largest alignment that the record can hold."
    yield Valid("alignment_32768", about, Archive([model(alignment=32768)]))
    mixed = [side_file(f"{n}.bin", alignment=n) for n in (256, 64, 4096, 128, 512)]
    about = "Each entry records an alignment of its own."
    yield Valid("alignment_mixed", about, Archive([*mixed, model()]))
    shortest = side_file("x" * 24 + ".bin")  # 30 + 28 + 6 = 64
    about = "A padding record without zeros: header, name and record end at 64 by themselves."
    yield Valid("padding_shortest", about, Archive([shortest, model()]))
    longest = side_file("x" * 25 + ".bin")
    about = "A padding record of 69 bytes, the longest for an alignment of 64."
    yield Valid("padding_longest", about, Archive([longest, model()]))
    many = [side_file(f"{i:03}", size=i % 7) for i in range(100)]
    yield Valid("many_entries", "A hundred entries of 0 to 6 bytes.", Archive([*many, model()]))


def names() -> Iterator[Valid]:
    def archive(*spelt: str, **differing: object) -> Archive:
        return Archive([*(side_file(name, **differing) for name in spelt), model()])

    folders = ("licence.txt", "tokenizer/vocab.txt", "tokenizer/merges.txt", "a/b/c/d.txt")
    yield Valid("folders", "Side files in folders.", archive(*folders))
    about = "Folders that differ in case only, names that do not."
    yield Valid("folders_case", about, archive("D/x", "d/y"))
    about = "Every character of ASCII that is allowed."
    signs = "!#$%&'()+,-.0123456789=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
    yield Valid("name_characters", about, archive(signs, "ab cdefghijklmnopqrstuvwxyz{}~"))
    about = "Names that begin with dots and spaces."
    yield Valid("name_leading", about, archive(".hidden", "..x", " x", "a/ b/.c", "..a/x"))
    about = "Names that are nearly those of devices."
    near = ("cons.txt", "com.bin", "com10.txt", "comx.1", "conin.bin", "$con", "x.nul", "xcon.bin")
    yield Valid("name_nearly_devices", about, archive(*near))
    longest = "/".join(["n" * 255, "o" * 255, "p" * 255, "q" * 251 + ".bin"])
    yield Valid("name_longest", "A name of 1023 bytes, with parts of 255.", archive(longest))
    several = "/".join(["n" * 203] * 4 + ["n" * 204 + ".bin"])
    yield Valid("name_1024", "A name of 1024 bytes.", archive(several))
    about = "Flag bit 11, which says nothing of a name that is ASCII."
    yield Valid("flag_utf8", about, archive("a.bin", both={"flags": 0x800}), case="h18")
    for header in ("local", "central"):
        about = f"Flag bit 11 in one of the headers alone: {header}."
        differing = archive("a.bin", **{header: {"flags": 0x800}})
        yield Valid(f"flag_utf8_{header}", about, differing, case="h18")
    about = "Names close to the reserved form: no second underscore, no capital, no letter."
    yield Valid("name_nearly_reserved", about, archive("_Model.bin", "__model.bin", "__1.bin"))


def free_fields() -> Iterator[Valid]:
    def archive(**differing: object) -> Archive:
        return Archive([side_file(**differing), model()])

    stamp = {"time": 0xBF7D, "date": 0xFF9F}  # 2107-12-31 23:59:58
    yield Valid("time", "Another time and date than writers write.", archive(both=stamp))
    about = "A date of month and day 0."
    yield Valid("time_zero", about, archive(both={"date": 0}))
    for version in (11, 20, 45):
        about = f"Version needed {version} in an entry that needs 10."
        yield Valid(f"version_{version}", about, archive(both={"version": version}))
    for name, local, central in (
        ("local_20", 20, 10),
        ("local_45", 45, 10),
        ("central_45", 10, 45),
        ("local_20_central_45", 20, 45),
    ):
        about = f"Version needed {local} in the local header, {central} in the directory."
        differing = archive(local={"version": local}, central={"version": central})
        yield Valid(f"version_{name}", about, differing, case="x06")
    about = "Internal attributes: the bit for text."
    yield Valid("attributes_text", about, archive(central={"internal": 1}), case="x03")
    for name, made_by in (("0", 0), ("unix", 3 << 8 | 63), ("max", 0xFF)):
        about = f"Version made by {made_by:#x}."
        yield Valid(f"made_by_{name}", about, archive(central={"made_by": made_by}))
    for name, external, what in (
        ("unix_regular", 0o100755 << 16, "a Unix regular file"),
        ("unix_setuid", 0o107777 << 16, "a Unix regular file with every permission"),
        ("unix_mode_only", 0o000600 << 16, "a Unix mode without a type"),
        ("dos", 0x27, "DOS read-only, hidden, system, archive"),
        ("free_bits", 0o100000 << 16 | 0x0FFFFBE7, "every bit that D9 leaves"),
    ):
        about = f"External attributes: {what}."
        yield Valid(f"attributes_{name}", about, archive(central={"external": external}))


# --- contents ------------------------------------------------------------------------------------


def contents() -> Iterator[Valid]:
    signatures = b"".join(b"PK" + bytes(pair) for pair in ((3, 4), (1, 2), (6, 6), (6, 7), (5, 6)))
    about = "Data that is full of zip's signatures: nobody searches."
    entries = [side_file(), Entry("s.bin", signatures * 3), model()]
    yield Valid("payload_signatures", about, Archive(entries), case="x10")
    about = "An archive in an archive."
    yield Valid("payload_archive", about, Archive([Entry("x.bin", sample().file), model()]))
    about = "An entry whose CRC-32 is 0 although it has bytes: 0 means nothing special."
    crc_0 = Entry("crc.bin", bytes.fromhex("9d0ad96d"))
    yield Valid("crc_zero", about, Archive([crc_0, model()]), case="h07")
    about = "A side file of no bytes."
    yield Valid("empty_entry", about, Archive([Entry("a.bin"), side_file("b.bin"), model()]))


# --- zip64 that nothing calls for ----------------------------------------------------------------


def zip64_fields() -> Iterator[Valid]:
    def valid(name: str, about: str, entry: Entry, case: str | None = None) -> Valid:
        archive = Archive([side_file(), entry, model()])
        return Valid(f"zip64_{name}", about, archive, case=case, warnings=UNNEEDED)

    plain = side_file("b.bin", both={"version": 45})
    at, size = Archive([side_file()]).directory, len(plain.data)
    wide = {"compressed": SENTINEL32, "size": SENTINEL32}
    sizes, all_three = zip64_field(size, size), zip64_field(size, size, at)

    local = replace(plain, extra=sizes)
    about = "A local zip64 field with both sizes, where the fields of 32 bits are sentinels."
    yield valid("local", about, replace(local, local=wide))
    yield valid("local_beside", "A local zip64 field beside sizes that are no sentinels.", local)
    about = "A local zip64 field, one size a sentinel, the other not."
    yield valid("local_one_sentinel", about, replace(local, local={"size": SENTINEL32}))

    for name, about, sentinels, field in (
        ("central_sizes", "both sizes", wide, sizes),
        ("central_size", "the size alone", {"size": SENTINEL32}, zip64_field(size)),
        ("central_offset", "the offset alone", {"offset": SENTINEL32}, zip64_field(at)),
        ("central_all", "sizes and offset", {**wide, "offset": SENTINEL32}, all_three),
        ("central_24", "all three where only the sizes are sentinels", wide, all_three),
        ("central_24_beside", "all three where none is a sentinel", {}, all_three),
        ("central_28", "all three and the disk", wide, zip64_field(size, size, at, disk=0)),
        ("central_empty", "nothing, as no field is a sentinel", {}, zip64_field()),
    ):
        about = f"A zip64 field in the directory that holds {about}."
        yield valid(name, about, replace(plain, central=sentinels, central_extra=field))
    about = "Zip64 fields in both headers of every entry that they can be in."
    both = replace(plain, extra=sizes, local=wide, central=wide, central_extra=sizes)
    yield valid("both_headers", about, both)


def zip64_ends() -> Iterator[Valid]:
    def valid(name: str, about: str, archive: Archive, case: str | None = None) -> Valid:
        return Valid(f"zip64_end{name}", about, archive, case=case, warnings=UNNEEDED)

    yield valid("", "Zip64 end records that nothing calls for.", sample(zip64=True))
    archive = sample(zip64=True)
    size = archive.zip64_end - archive.directory
    real = {
        "entries_here": 3,
        "entries": 3,
        "directory_size": size,
        "directory_offset": archive.directory,
    }
    about = "Zip64 end records, and no sentinel in the end record."
    yield valid("_beside", about, archive.set_end(**real))
    for sentinel in ("directory_size", "directory_offset"):
        values = {name: value for name, value in real.items() if name != sentinel}
        about = f"Zip64 end records, and one sentinel: {sentinel.replace('_', ' ')}."
        archive = sample(zip64=True).set_end(**values)
        case = "x08" if sentinel == "directory_size" else None
        yield valid(f"_only_{sentinel}", about, archive, case)
    about = "Zip64 end records, and sentinels for the numbers of entries alone."
    counted = {name: value for name, value in real.items() if "directory" in name}
    yield valid("_counts", about, sample(zip64=True).set_end(**counted))
    about = "A zip64 end record made by a version that does not exist."
    yield valid("_made_by", about, sample(zip64=True).set_zip64_end(made_by=0xFFFF), "x02")
    for version in (10, 20, 44):
        about = f"A zip64 end record that needs version {version}."
        archive = sample(zip64=True).set_zip64_end(version=version)
        yield valid(f"_version_{version}", about, archive, "x02")


# --- edits ---------------------------------------------------------------------------------------


def edits() -> Iterator[Valid]:
    def edited(name: str, about: str, archive: Archive, *more: str) -> Valid:
        return Valid(name, about, archive, warnings=more, notes=EDITED)

    changed = model(EDITED_MODEL)
    yield edited("edited", "Edited once.", sample().edit(changed))
    twice = sample().edit(changed).edit(model())
    yield edited("edited_twice", "Edited twice: two tails behind the same entry.", twice)
    about = "An edit that added an entry: the tail is in the middle."
    yield edited("edited_added", about, sample().edit(side_file("c.bin"), changed))
    archive = sample().edit(side_file("c.bin"), changed).edit(side_file("d.bin"), model())
    about = "Two edits that each added an entry: two tails behind different entries."
    yield edited("edited_added_twice", about, archive)
    archive = sample(zip64=True).edit(changed, zip64=True)
    about = "The state before had zip64 end records, and the edit kept them."
    yield edited("edited_zip64_kept", about, archive, *UNNEEDED)
    archive = sample().edit(changed, zip64=True)
    yield edited("edited_zip64", "The edit wrote zip64 end records.", archive, *UNNEEDED)
    archive = Archive([side_file("a.bin", alignment=4096), model()]).edit(changed)
    yield edited("edited_aligned", "Edited, and the entry before is aligned to 4096.", archive)
    archive = typical().edit(model(wire.model_of(wire.linked("a"))))
    about = "An edit that dropped a link: the entry stays."
    yield Valid("edited_dropped_link", about, archive, notes=(*EDITED, "archive.entry.unused"))
    archive = sample()
    archive.put(archive.data[-1], b"\xff\xff").edit(changed)
    about = "Edited, and the superseded model's data is not what its CRC-32 says: nobody looks."
    yield edited("edited_old_data", about, archive)
    payload = sample().edit(changed).file
    about = "The data of an entry ends in the end record of another edited archive."
    nested = Archive([Entry("x.bin", content(1, 5) + bytes(payload)), model()])
    yield edited("edited_payload", about, nested.edit(changed))


# --- limits of a user ----------------------------------------------------------------------------


def limits() -> Iterator[Valid]:
    archive = sample()
    size = archive.end - archive.directory
    for name, option, limit, about in (
        ("entries", "max_entries", 3, "As many entries as the user's limit."),
        ("directory", "max_directory_size", size, "A directory as long as the user's limit."),
        ("model", "max_model_size", len(model().data), "A model as long as the user's limit."),
    ):
        yield Valid(f"limit_{name}", about, sample(), options={option: limit})
    edited = Archive([side_file(), model(EDITED_MODEL)]).edit(model())
    about = "A superseded model is longer than the user's limit, and the model is not."
    options = {"max_model_size": len(model().data)}
    yield Valid("limit_superseded", about, edited, notes=EDITED, options=options)
