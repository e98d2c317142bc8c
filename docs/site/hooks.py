"""Hooks of the site's build: pages that docs/ does not hold, and checks of what was built.

A warning ends the build, because it is strict."""

import logging
import os
import posixpath
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import event_kinds
from mkdocs.structure.files import File

LOG = logging.getLogger("mkdocs.hooks.site")
# Files of the repository that are part of the site under another name.
OUTSIDE = {
    "benchmarks/README.md": "benchmarks.md",
    "benchmarks/growth/growth.svg": "growth.svg",
    "benchmarks/diagnosis/README.md": "benchmark-of-diagnosis.md",
}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def root(config):
    return Path(config.config_file_path).parent


def on_files(files, config):
    for source, name in OUTSIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(root(config) / source)))
    files.append(File.generated(config, "command-line.md", content=command_line(config)))
    headers = (root(config) / "native/include/tacho" / name for name in ("events.h", "widths.h"))
    kinds = event_kinds.page(*(header.read_text() for header in headers))
    files.append(File.generated(config, "events.md", content=kinds))
    return files


def command_line(config):
    """The page of every verb's options, as the built command prints them."""
    program = Path(os.environ.get("TACHO_HOME", root(config) / "build")) / "tacho"

    def help_of(*verb):
        return subprocess.run([program, "help", *verb], check=True, capture_output=True, text=True).stdout

    verbs = re.findall(r"^  (\w+) {2,}", help_of().partition("Commands:")[2].partition("Options:")[0], flags=re.M)
    pages = ["# Every option\n\n`tacho VERB --help` prints the same on your machine."]
    for verb in verbs:
        if verb != "help":
            pages.append(f"## tacho {verb}\n\n```text\n{help_of(verb)}```")
    return "\n\n".join(pages) + "\n"


def on_page_markdown(markdown, page, config, **_):
    """Links that leave docs/ lead to the page of the site; the site has no source code, so links to it become text."""
    here = page.file.src_uri
    source = next((path for path, name in OUTSIDE.items() if name == here), f"docs/{here}")

    def on_the_site(link):
        image, text, target, anchor = link.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if "://" in target or (source.startswith("docs/") and path.startswith("docs/")):
            return link[0]
        if path.startswith("docs/") or path in OUTSIDE:
            return f"{image}[{text}]({OUTSIDE.get(path, path.removeprefix('docs/'))}{anchor or ''})"
        return text if (root(config) / path).exists() else link[0]

    return LINK.sub(on_the_site, markdown)


class Built(HTMLParser):
    """What a built page refers to: its own anchors, links, what a browser would load, and text."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links, self.assets, self.text = set(), [], [], []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(filter(None, (attributes.get("id"), attributes.get("name") if tag == "a" else None)))
        for key in ("src", "href", "data", "poster", "srcset"):
            if value := attributes.get(key):
                (self.links if tag == "a" else self.assets).append(value)

    def handle_data(self, data):
        self.text.append(data)


def on_post_build(config):
    site = Path(config.site_dir)
    # The page of a server for missing addresses; nothing links to it, and its links begin at the root of a host.
    (site / "404.html").unlink()
    pages = {path: Built(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for asset in page.assets:
            if re.match(r"(\w+:)?//", asset):
                LOG.warning("%s loads from another host: %s", name, asset)
        for link in (*page.links, *page.assets):
            if re.match(r"\w+:|//", link):
                continue
            target, anchor = urldefrag(unquote(link))
            there = (path.parent / target).resolve() if target else path
            if not there.is_file():
                LOG.warning("%s: %s leads nowhere", name, link)
            elif anchor and there in pages and anchor not in pages[there].ids | {"__top"}:
                LOG.warning("%s: %s has no such anchor", name, link)
        if re.search(r"^\|[ :-]+\|", "".join(page.text), flags=re.M):
            LOG.warning("%s shows a table as text: an empty line is missing before it", name)
    for style in site.rglob("*.css"):
        for asset in re.findall(r"(?:url\(|@import)\s*['\"]?((?:\w+:)?//[^'\")\s]*)", style.read_text()):
            LOG.warning("%s loads from another host: %s", style.relative_to(site), asset)
