"""The reference of events, made from the two headers that define them."""

import re

TOKEN = re.compile(r"/\*(?P<comment>.*?)\*/|TACHO_(?P<name>\w+)(?:\s*=\s*(?P<number>\d+))?\s*,|(?P<line>\n)", re.S)
HEAD = """# Events

An event is a time, a thread, a kind and the words of that kind. [The event file](event-file.md) specifies how it is written. This page is made from
`native/include/tacho/events.h` and `widths.h`. The last column lists the words in their order, then what the event means. *Bytes* has a digit for each word."""
TABLE = "\n| number | kind | bytes | words: meaning |\n| --- | --- | --- | --- |"


def page(events_header, widths_header):
    body = re.search(r"enum tacho_kind \{(.*?)\n\};", events_header, flags=re.S)[1]
    bytes_of = dict(re.findall(r"\[TACHO_(\w+)\] = 0x([0-9a-f]+)", widths_header))
    lines, number, in_line, in_table = [HEAD], 0, False, False
    for token in TOKEN.finditer(body):
        comment = re.sub(r"\s*\n\s*\*\s*", " ", token["comment"] or "").strip()
        if token["name"]:
            number = int(token["number"] or number + 1)
            lines += [] if in_table else [TABLE]
            lines.append(f"| {number} | `{token['name'].lower()}` | {' '.join(bytes_of.get(token['name'], ''))} | |")
            in_line = in_table = True
        elif token["line"]:
            in_line = False
        elif in_line:
            lines[-1] = f"{lines[-1].removesuffix('|')}{escaped(comment)} |"
        else:
            lines.append(f"\n{escaped(comment)}")
            in_table = False
    return "\n".join(lines) + "\n"


def escaped(text):
    """Text in which names with underscores, and what has a meaning in tables and HTML, stay as they are."""
    return re.sub(r"([_*|])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
