#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C message code for tacho-micro from .msg files.

    python3 tacho_micro_msg.py -o messages std_msgs/msg/String geometry_msgs/msg/Twist

It needs the Python environment of a ROS 2 (Iron or newer) for its parser (rosidl_adapter) and its type hashes
(rosidl_generator_type_description, REP-2011). It searches for packages in AMENT_PREFIX_PATH, then beside this Python;
`--package NAME=FOLDER` names the folder of .msg files of a package that is not installed.

Each type becomes one header: a struct, its micro_type, a write and a read function (XCDR1). Strings are views. A
sequence is an array with a bound; if the .msg gives none, the bound is NAME_FIELD_MAX, which a program may define
before it includes the header.
"""

import argparse
import os
import sys
from pathlib import Path

from rosidl_adapter.parser import MessageSpecification, parse_message_file
from rosidl_generator_type_description import FIELD_TYPE_NAME_TO_ID, calculate_type_hash

DEFAULT_BOUND = 16

# .msg type: (C type, width in bytes, name in type descriptions). A bool is a byte here, because the wire may carry
# other values than 0 and 1.
PRIMITIVES = {
    "bool": ("uint8_t", 1, "BOOLEAN"),
    "byte": ("uint8_t", 1, "BYTE"),
    "char": ("uint8_t", 1, "UINT8"),  # rosidl treats it so since .msg files became .idl
    "int8": ("int8_t", 1, "INT8"),
    "uint8": ("uint8_t", 1, "UINT8"),
    "int16": ("int16_t", 2, "INT16"),
    "uint16": ("uint16_t", 2, "UINT16"),
    "int32": ("int32_t", 4, "INT32"),
    "uint32": ("uint32_t", 4, "UINT32"),
    "int64": ("int64_t", 8, "INT64"),
    "uint64": ("uint64_t", 8, "UINT64"),
    "float32": ("float", 4, "FLOAT"),
    "float64": ("double", 8, "DOUBLE"),
}
SEQUENCES = {"fixed": "_ARRAY", "bounded": "_BOUNDED_SEQUENCE", "unbounded": "_UNBOUNDED_SEQUENCE"}


class Unsupported(Exception):
    """This generator has no code for a field."""


def kind_of(field_type) -> str:
    """Returns "one", "fixed", "bounded" or "unbounded"."""
    if not field_type.is_array:
        return "one"
    if field_type.array_size is None:
        return "unbounded"
    return "bounded" if field_type.is_upper_bound else "fixed"


def full_name(field_type) -> str:
    return f"{field_type.pkg_name}/msg/{field_type.type}"


class Types:
    """Finds and parses each message specification once."""

    def __init__(self, packages: dict):
        self.packages = packages
        self.specs = {}

    def folder(self, package: str) -> Path:
        if package in self.packages:
            return Path(self.packages[package])
        prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p] + [sys.prefix]
        for prefix in prefixes:
            folder = Path(prefix) / "share" / package / "msg"
            if folder.is_dir():
                return folder
        raise FileNotFoundError(
            f"package {package}: no share/{package}/msg in {', '.join(prefixes)}; name its folder with --package {package}=FOLDER"
        )

    def spec(self, name: str) -> MessageSpecification:
        if name not in self.specs:
            package, _, base = name.split("/")
            self.specs[name] = parse_message_file(package, str(self.folder(package) / f"{base}.msg"))
        return self.specs[name]

    def fields(self, name: str) -> list:
        return [(f.name, f.type) for f in self.spec(name).fields]

    def nested(self, name: str) -> list:
        """Returns the types of fields, each once, in the order of the file."""
        return list(dict.fromkeys(full_name(t) for _, t in self.fields(name) if not t.is_primitive_type()))

    def all_nested(self, name: str) -> set:
        found = set()
        for other in self.nested(name):
            found |= {other} | self.all_nested(other)
        return found

    def individual_description(self, name: str) -> dict:
        fields = []
        for field, t in self.fields(name):
            if not t.is_primitive_type():
                base = "NESTED_TYPE"
            elif t.type in ("string", "wstring"):
                base = ("BOUNDED_" if t.string_upper_bound else "") + t.type.upper()
            else:
                base = PRIMITIVES[t.type][2]
            kind = kind_of(t)
            fields.append(
                {
                    "name": field,
                    "type": {
                        "type_id": FIELD_TYPE_NAME_TO_ID[f"FIELD_TYPE_{base}{SEQUENCES.get(kind, '')}"],
                        "capacity": t.array_size if kind in ("fixed", "bounded") else 0,
                        "string_capacity": (t.string_upper_bound or 0) if t.is_primitive_type() else 0,
                        "nested_type_name": "" if t.is_primitive_type() else full_name(t),
                    },
                }
            )
        if not fields:  # rosidl gives an empty message this field
            fields.append(
                {
                    "name": "structure_needs_at_least_one_member",
                    "type": {
                        "type_id": FIELD_TYPE_NAME_TO_ID["FIELD_TYPE_UINT8"],
                        "capacity": 0,
                        "string_capacity": 0,
                        "nested_type_name": "",
                    },
                }
            )
        return {"type_name": name, "fields": fields}

    def type_hash(self, name: str) -> str:
        for field in (d := self.individual_description(name))["fields"]:
            field["default_value"] = ""
        others = [self.individual_description(n) for n in sorted(self.all_nested(name))]
        for field in (f for o in others for f in o["fields"]):
            field["default_value"] = ""
        return calculate_type_hash({"type_description": d, "referenced_type_descriptions": others})


def c_name(name: str) -> str:
    return name.replace("/", "_")


def element(field_type, where: str):
    """Returns the C type of one value, and the statements that write and read `{}`."""
    if not field_type.is_primitive_type():
        c = c_name(full_name(field_type))
        return f"struct {c}", f"{c}_write(cdr, &{{}});", f"{c}_read(cdr, &{{}});"
    if field_type.type == "string":
        bound = field_type.string_upper_bound or 0
        return "struct micro_string", f"cdr_write_string(cdr, {{}}, {bound});", f"cdr_read_string(cdr, &{{}}, {bound});"
    if field_type.type not in PRIMITIVES:
        raise Unsupported(f"{where}: type {field_type.type} (expected a primitive, string or message)")
    c, width, _ = PRIMITIVES[field_type.type]
    return c, f"cdr_write(cdr, &{{}}, {width}, 1);", f"cdr_read(cdr, &{{}}, {width}, 1);"


def bulk(field_type) -> int:
    """Returns the width of elements that are copied together; 0: they are copied one by one."""
    return PRIMITIVES[field_type.type][1] if field_type.is_primitive_type() and field_type.type in PRIMITIVES else 0


def header(types: Types, name: str) -> str:
    c, package, base = c_name(name), name.split("/")[0], name.split("/")[2]
    macros, members, writes, reads = [], [], [], []
    for field, t in types.fields(name):
        where, kind = f"{name}.{field}", kind_of(t)
        ctype, write, read = element(t, where)
        if kind == "one":
            members.append(f"  {ctype} {field};")
            writes.append("  " + write.format(f"message->{field}"))
            reads.append("  " + read.format(f"message->{field}"))
            continue
        if kind == "fixed":
            count, data, size = str(t.array_size), f"message->{field}", str(t.array_size)
            members.append(f"  {ctype} {field}[{count}];")
        else:
            count = str(t.array_size) if kind == "bounded" else f"{c}_{field}_MAX"
            data, size = f"message->{field}.data", f"message->{field}.size"
            members.append(f"  struct {{\n    uint32_t size;\n    {ctype} data[{count}];\n  }} {field};")
            if kind == "unbounded":
                macros.append(
                    f"#ifndef {count}\n#define {count} {DEFAULT_BOUND}u /* the .msg has no bound; longer ones are refused */\n#endif"
                )
            writes.append(f"  cdr_write_length(cdr, {size}, {count});")
            reads.append(f"  {size} = cdr_read_length(cdr, {count});")
        if bulk(t):
            writes.append(f"  cdr_write(cdr, {data}, {bulk(t)}, {size});")
            reads.append(f"  cdr_read(cdr, {data}, {bulk(t)}, {size});")
        else:
            guard = "" if kind == "fixed" else f" && i < {count}"
            for lines, statement in ((writes, write), (reads, read)):
                lines.append(f"  for (uint32_t i = 0; i < {size}{guard}; i++) {statement.format(data + '[i]')}")
    if not members:
        members.append("  uint8_t structure_needs_at_least_one_member;")
        writes.append("  cdr_write(cdr, &message->structure_needs_at_least_one_member, 1, 1);")
        reads.append("  cdr_read(cdr, &message->structure_needs_at_least_one_member, 1, 1);")
    constants = [f"#define {c}_{k.name} {k.value!r}" for k in types.spec(name).constants if k.type != "string"]
    guard = f"MICRO_{c.upper()}_H_"
    parts = [
        f"/* SPDX-License-Identifier: Apache-2.0\n * Generated from {name} by tacho_micro_msg.py; not to be edited. */",
        f"#ifndef {guard}\n#define {guard}\n",
        "\n".join(['#include "tacho_micro.h"'] + [f'#include "{c_name(n)}.h"' for n in types.nested(name)]),
        "\n".join(macros + constants),
        f"struct {c} {{\n" + "\n".join(members) + "\n};",
        f'static const struct micro_type {c}_type = {{\n    "{package}::msg::dds_::{base}_",\n    "{types.type_hash(name)}"}};',
        f"static inline void {c}_write(struct cdr_writer *cdr, const struct {c} *message) {{\n"
        + "\n".join(writes)
        + "\n}",
        f"static inline void {c}_read(struct cdr_reader *cdr, struct {c} *message) {{\n" + "\n".join(reads) + "\n}",
        "#endif\n",
    ]
    return "\n\n".join(part for part in parts if part)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("types", nargs="+", metavar="PACKAGE/msg/NAME")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the headers")
    parser.add_argument("--package", action="append", default=[], metavar="NAME=FOLDER")
    arguments = parser.parse_args()
    types = Types(dict(p.split("=", 1) for p in arguments.package))
    try:
        wanted = set(arguments.types)
        for name in arguments.types:
            if name.count("/") != 2:
                raise Unsupported(f"{name}: expected PACKAGE/msg/NAME")
            wanted |= types.all_nested(name)
        texts = {c_name(name): header(types, name) for name in sorted(wanted)}
    except (Unsupported, FileNotFoundError) as error:
        print(f"tacho_micro_msg: {error}", file=sys.stderr)
        return 2
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (arguments.output / f"{name}.h").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
