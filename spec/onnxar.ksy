# Describes the container of ONNX archives (onnx-archive.md) for Kaitai Struct, whose compiler makes parsers in a dozen
# languages, and whose viewers show the records of a file. A parser of it does not check archives: it finds what a valid
# archive has, and may read other files in any way.
meta:
  id: onnxar
  title: ONNX archive
  file-extension: onnxar
  license: Apache-2.0
  ks-version: "0.10"
  endian: le
doc: |
  A zip file that holds an ONNX model. Every entry is stored and aligned, and the last one, `__MODEL_PROTO`, is a
  serialised ModelProto.
doc-ref: onnx-archive.md
instances:
  end_record:
    pos: _io.size - 22
    type: end_record
  has_zip64:
    value: _io.size >= 98 and locator_signature == 0x07064b50
  locator_signature:
    pos: _io.size - 42
    type: u4
    if: _io.size >= 98
  locator:
    pos: _io.size - 42
    type: locator
    if: has_zip64
  zip64_end_record:
    pos: locator.ofs_zip64_end_record
    type: zip64_end_record
    if: has_zip64
  num_entries:
    value: "has_zip64 ? zip64_end_record.num_entries : end_record.num_entries"
  ofs_directory:
    value: "has_zip64 ? zip64_end_record.ofs_directory : end_record.ofs_directory"
  entries:
    pos: ofs_directory
    type: entry
    repeat: expr
    repeat-expr: num_entries
    doc: In the order of the file.
  model:
    value: entries.last
    doc: The entry `__MODEL_PROTO`.
types:
  end_record:
    seq:
      - id: magic
        contents: [0x50, 0x4b, 5, 6]
      - id: disk
        type: u2
      - id: directory_disk
        type: u2
      - id: num_entries_on_disk
        type: u2
      - id: num_entries
        type: u2
      - id: len_directory
        type: u4
      - id: ofs_directory
        type: u4
      - id: len_comment
        type: u2
  locator:
    seq:
      - id: magic
        contents: [0x50, 0x4b, 6, 7]
      - id: disk
        type: u4
      - id: ofs_zip64_end_record
        type: u8
      - id: num_disks
        type: u4
  zip64_end_record:
    seq:
      - id: magic
        contents: [0x50, 0x4b, 6, 6]
      - id: len_rest
        type: u8
      - id: version_made_by
        type: u2
      - id: version_needed
        type: u2
      - id: disk
        type: u4
      - id: directory_disk
        type: u4
      - id: num_entries_on_disk
        type: u8
      - id: num_entries
        type: u8
      - id: len_directory
        type: u8
      - id: ofs_directory
        type: u8
  entry:
    doc: A directory header, and what it leads to.
    seq:
      - id: magic
        contents: [0x50, 0x4b, 1, 2]
      - id: version_made_by
        type: u2
      - id: version_needed
        type: u2
      - id: flags
        type: u2
      - id: method
        type: u2
        doc: 0, stored.
      - id: time
        type: u2
      - id: date
        type: u2
      - id: crc32
        type: u4
      - id: len_compressed_32
        type: u4
      - id: len_data_32
        type: u4
      - id: len_name
        type: u2
      - id: len_extra
        type: u2
      - id: len_comment
        type: u2
      - id: disk
        type: u2
      - id: internal_attributes
        type: u2
      - id: external_attributes
        type: u4
      - id: ofs_local_32
        type: u4
      - id: name
        type: str
        size: len_name
        encoding: ASCII
      - id: extra
        type: extra_fields
        size: len_extra
    instances:
      wide:
        value: extra.zip64.values
        if: extra.has_zip64
      is_full:
        value: extra.has_zip64 and extra.zip64.values.size == 3
        doc: The zip64 field has all three numbers, also those that are not sentinels in the header.
      len_data:
        value: "is_full or len_data_32 == 0xffffffff ? wide[0] : len_data_32"
      ofs_local:
        value: "is_full ? wide[2] : ofs_local_32 == 0xffffffff ? wide.last : ofs_local_32"
      local:
        io: _root._io
        pos: ofs_local
        type: local_header
      ofs_data:
        value: ofs_local + 30 + local.len_name + local.len_extra
      data:
        io: _root._io
        pos: ofs_data
        size: len_data
  local_header:
    seq:
      - id: magic
        contents: [0x50, 0x4b, 3, 4]
      - id: version_needed
        type: u2
      - id: flags
        type: u2
      - id: method
        type: u2
      - id: time
        type: u2
      - id: date
        type: u2
      - id: crc32
        type: u4
      - id: len_compressed_32
        type: u4
      - id: len_data_32
        type: u4
      - id: len_name
        type: u2
      - id: len_extra
        type: u2
      - id: name
        type: str
        size: len_name
        encoding: ASCII
      - id: extra
        type: extra_fields
        size: len_extra
  extra_fields:
    seq:
      - id: fields
        type: extra_field
        repeat: eos
    instances:
      is_first_zip64:
        value: fields.size > 0 and fields[0].id == field_id::zip64
      has_zip64:
        value: is_first_zip64 or (fields.size > 1 and fields[1].id == field_id::zip64)
      zip64:
        value: "is_first_zip64 ? fields[0].body.as<zip64> : fields[1].body.as<zip64>"
        if: has_zip64
  extra_field:
    seq:
      - id: id
        type: u2
        enum: field_id
      - id: len_body
        type: u2
      - id: body
        size: len_body
        type:
          switch-on: id
          cases:
            field_id::zip64: zip64
            field_id::padding: padding
            field_id::alignment: padding
  zip64:
    doc: Sizes and, in a directory header, an offset, of those that do not fit into 32 bits.
    seq:
      - id: values
        type: u8
        repeat: expr
        repeat-expr: _io.size / 8
      - id: disk
        type: u4
        if: _io.size % 8 == 4
  padding:
    doc: Places the data at a multiple of the alignment.
    seq:
      - id: alignment
        type: u2
      - id: zeros
        size-eos: true
enums:
  field_id:
    0x0001: zip64
    0xd935: padding
    0xa11e: alignment
