"""Faults of superseded tails (P5, T2): bytes between entries that no edit leaves.

Each is named at the end of the data that the bytes follow. Where they do not even end as an
archive, `open` sees it (P5); what is wrong within the earlier state is `check`'s affair (T2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import wire
from builder import END, MODEL, Archive, Entry
from vector import Invalid, content, model, sample, side_file

CHANGED = model(wire.model())
# Both tails stand behind the second side file.
KEPT, WHERE = 1, "b.bin"


def vectors() -> Iterator[Invalid]:
    yield from no_tails()
    yield from misplaced_ends()
    yield from lost_zip64()
    yield from behind_the_last()
    yield from broken_headers()
    yield from other_states()
    yield from older_states()


# --- P5: what does not end as an archive ---------------------------------------------------------


def followed_by(tail: bytes, *, zip64: bool = False) -> tuple[bytes, int]:
    """The second side file, then these bytes, then the model; and where the bytes begin."""
    kept = [side_file(), side_file(WHERE)]
    archive = Archive([*kept, model(before=tail)], zip64=zip64)
    return bytes(archive.file), archive.data_end(KEPT)


def tail_of(archive: Archive) -> bytes:
    """What an edit would leave of this state."""
    return bytes(archive.file[archive.headers[-1] :])


def no_tails() -> Iterator[Invalid]:
    tail = tail_of(sample())
    commented = sample().set_end(comment_length=1)
    for name, bytes_, about in (
        ("cut", tail[:-1], "The tail's last byte is missing."),
        ("byte_behind", tail + b"\0", "A byte stands behind the tail."),
        ("no_end", tail[: -END.size], "The tail has no end record."),
        ("zeros", bytes(len(tail)), "Zeros stand where a tail could."),
        ("comment", tail_of(commented), "The tail's end record announces a comment."),
        ("commented", tail_of(commented) + b"c", "The tail's end record has a comment."),
        ("disk", tail_of(sample().set_end(disk=1)), "The tail's end record is on disk 1."),
        (
            "other",
            tail_of(sample().set_end(directory_offset=7)),
            "The tail's directory is elsewhere.",
        ),
        (
            "signature",
            tail.replace(b"PK\5\6", b"PK\5\7"),
            "The tail's end record has no signature.",
        ),
    ):
        file, at = followed_by(bytes_)
        yield Invalid(f"tail_{name}", about, "P5", file, at, WHERE)
    for name, archive, about in (
        ("locator", sample(zip64=True).set_locator(offset=0), "zip64 locator points elsewhere"),
        ("record", sample(zip64=True).set_zip64_end(record_size=45), "zip64 end record is longer"),
        ("disagree", sample(zip64=True).set_end(entries_here=1, entries=1), "end records disagree"),
        (
            "sentinel",
            sample().set_end(directory_size=0xFFFFFFFF),
            "end record lacks its zip64 record",
        ),
    ):
        file, at = followed_by(tail_of(archive), zip64=True)
        yield Invalid(f"tail_{name}", f"The tail's {about}.", "P5", file, at, WHERE)


def misplaced_ends() -> Iterator[Invalid]:
    end = Archive([side_file(), side_file(WHERE)]).directory  # where the second one's data ends
    record = END.pack(directory_size=10, directory_offset=end - 10)
    about = "The tail is an end record whose directory would be the end of the entry's data."
    file, at = followed_by(record)
    yield Invalid("tail_directory_in_data", about, "P5", file, at, WHERE)
    record = END.pack(directory_size=end, directory_offset=0)
    about = "The tail is an end record whose directory would be all that stands before it."
    file, at = followed_by(record)
    yield Invalid("tail_directory_at_0", about, "P5", file, at, WHERE)
    about = "A whole archive stands between two entries, its offsets counted from its own start."
    file, at = followed_by(bytes(sample().file))
    yield Invalid("tail_archive", about, "P5", file, at, WHERE)


def lost_zip64() -> Iterator[Invalid]:
    for name, archive, about in (
        ("", sample(zip64=True).edit(CHANGED), "The state before"),
        (
            "_added",
            sample(zip64=True).edit(side_file("c.bin"), CHANGED),
            "An edit that added an entry: the state before",
        ),
        (
            "_twice",
            sample().edit(CHANGED, zip64=True).edit(model()),
            "Edited twice: the first edit, and not the second,",
        ),
    ):
        about += " had zip64 end records, and the last state has none."
        file, at = bytes(archive.file), archive.data_end(KEPT)
        yield Invalid(f"tail_zip64_lost{name}", about, "P5", file, at, WHERE)


def behind_the_last() -> Iterator[Invalid]:
    archive = sample()
    archive.finish()
    about = "A second directory of the same entries: the first is a tail behind the last entry."
    file = bytes(archive.file)
    yield Invalid("tail_last", about, "P5", file, archive.data_end(-1), MODEL)
    archive = sample().edit(CHANGED)
    archive.finish()
    about = "The same, after an edit that left a tail as it should."
    file = bytes(archive.file)
    yield Invalid("tail_last_edited", about, "P5", file, archive.data_end(-1), MODEL)


# --- T2: what ends as an archive that was none ---------------------------------------------------


def refused(name: str, about: str, archive: Archive, index: int = KEPT) -> Invalid:
    at, entry = archive.data_end(index), archive.entries[index].name
    return Invalid(f"tail_{name}", about, "T2", bytes(archive.file), at, entry, "check")


Change = Callable[[Archive], Archive]

# The state before the edit, as it was then; entries are two side files and the model.
EARLIER: tuple[tuple[str, str, Change], ...] = (
    ("local_signature", "The old model has no local header.", lambda a: a.put(a.headers[2], b"XX")),
    ("local_date", "The old model's headers differ.", lambda a: a.set_local(2, date=0x22)),
    (
        "local_name",
        "The old model's local header has another name.",
        lambda a: a.put(a.headers[2] + 30, b"x"),
    ),
    ("padding", "The old model's padding is not all zeros.", lambda a: a.put(a.data[2] - 1, b"\1")),
    (
        "count",
        "The old end record counts 2 entries.",
        lambda a: a.set_end(entries_here=2, entries=2),
    ),
    (
        "no_entries",
        "The old end record counts none.",
        lambda a: a.set_end(entries_here=0, entries=0),
    ),
    ("header", "The old directory begins with no header.", lambda a: a.put(a.central[0], b"XX")),
    ("encrypted", "The old directory says encrypted.", lambda a: a.set_central(0, flags=1)),
    ("method", "The old directory says deflated.", lambda a: a.set_central(0, method=8)),
    (
        "link",
        "A symbolic link in the old directory.",
        lambda a: a.set_central(1, external=0xA1FF0000),
    ),
    (
        "crc",
        "An old header differs from a local one that still counts.",
        lambda a: a.set_central(0, crc32=1),
    ),
    (
        "size",
        "A size in the old directory is too small.",
        lambda a: a.set_central(0, compressed=19, size=19),
    ),
    (
        "offset",
        "An offset in the old directory is 64 too large.",
        lambda a: a.set_central(2, offset=a.headers[2] + 64),
    ),
    (
        "names",
        "Two names are equal in the old directory.",
        lambda a: a.put(a.central[1] + 46, b"a.bin"),
    ),
    (
        "name",
        "A name in the old directory is a path.",
        lambda a: a.put(a.central[1] + 46, b"../bc"),
    ),
    (
        "reserved",
        "A name in the old directory is reserved.",
        lambda a: a.put(a.central[1] + 46, b"__BIN"),
    ),
    ("model_name", "The old model has another name.", lambda a: a.put(a.central[2] + 46, b"model")),
)


def broken_headers() -> Iterator[Invalid]:
    for name, about, change in EARLIER:
        archive = change(sample()).edit(CHANGED)
        yield refused(f"state_{name}", f"Edited, and the state before was none: {about}", archive)


def other_states() -> Iterator[Invalid]:
    file, at = followed_by(END.pack(directory_offset=sample().headers[-1]))
    about = "The tail is the end record of an archive without entries."
    yield Invalid("tail_empty_zip", about, "T2", file, at, WHERE, "check")

    no_model = Archive([side_file(), side_file(WHERE)])
    no_model.add(model())
    no_model.finish()
    about = "The state before had no model: its directory begins where the data ends."
    yield refused("no_model", about, no_model)

    archive = Archive([side_file(), side_file(WHERE), model()])
    del archive.file[archive.directory :]
    archive.finish(listed=[0, 1])
    about = "The state before did not list its model, which stands there."
    yield refused("model_unlisted", about, archive.edit(CHANGED))

    archive = Archive([side_file(), side_file(WHERE), model(), side_file("c.bin")])
    archive.entries[2:] = [model()]
    archive.headers[2:] = archive.data[2:] = [0]
    about = "The model was not the last entry of the state before."
    yield refused("model_not_last", about, archive.edit(CHANGED))

    archive = Archive([side_file(), side_file(WHERE), side_file("x.bin"), model()])
    del archive.file[archive.directory :]
    archive.finish(listed=[2, 3])
    archive.entries[2:] = [model()]  # an edit supersedes one entry, and here two are gone
    archive.headers[2:] = archive.data[2:] = [0]
    about = "The first entry of the state before was not at 0."
    yield refused("first_offset", about, archive.edit(CHANGED))


def older_states() -> Iterator[Invalid]:
    archive = sample().set_local(2, time=1).edit(CHANGED).edit(model())
    about = "Edited twice, and the state before the first edit has a wrong local header."
    yield refused("older_local", about, archive)
    archive = sample().set_central(0, flags=1).edit(CHANGED).edit(model())
    about = "Edited twice, and the state before the first edit says encrypted."
    yield refused("older_encrypted", about, archive)
    archive = sample().edit(CHANGED).set_local(2, time=1).edit(model())
    about = "Edited twice, and the state between has a wrong local header."
    yield refused("newer_local", about, archive)
    archive = sample(zip64=True).edit(CHANGED).edit(model())
    about = "Edited twice, and the first edit lost the zip64 end records."
    yield refused("older_zip64_lost", about, archive)
    archive = sample(zip64=True).edit(CHANGED).edit(model(), zip64=True)
    about = "Edited twice: the first edit lost the zip64 end records, the second wrote some."
    yield refused("older_zip64_lost_again", about, archive)
    archive = sample().edit(side_file("c.bin"), CHANGED).set_local(3, time=1)
    archive.edit(model())
    about = "Two tails behind different entries, and the second is false."
    yield refused("second_of_two", about, archive, 2)
    archive = sample().set_local(2, time=1).edit(side_file("c.bin"), CHANGED)
    archive.set_local(3, time=1).edit(model())
    about = "Two tails behind different entries, and both are false: the first is named."
    yield refused("both_of_two", about, archive)
    payload = Entry("c.bin", content(9, 64))
    archive = sample().set_local(2, time=1).edit(payload, CHANGED)
    about = "An edit that added an entry, and the state before has a wrong local header."
    yield refused("added_local", about, archive)
