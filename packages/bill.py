"""What the binaries are made of: a bill of materials (CycloneDX 1.5) and the texts of all licences.

Crates are those that cargo names for the shipped programs and plugins; npm packages are those of the report page. What
only builds or tests need is in neither.
"""

import base64
import hashlib
import json
import re
import subprocess
import tomllib
import uuid
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENSE_FILE = re.compile(r"(?i)((un)?licen[cs]e|copying|notice|copyright)([-._].*)?")

#: The crate of each shipped file that is written in Rust, by the folder of its workspace.
CRATES = {
    ".": {"tacho": "tacho-cli", "tacho-node": "tacho-runner"},
    "native/middleware": {
        "lib/libtacho_zenoh.so": "tacho-zenoh",
        "lib/libtacho_iceoryx.so": "tacho-iceoryx",
        "lib/libtacho_dustdds.so": "tacho-dustdds",
    },
}


@dataclass
class Part:
    """A crate or an npm package that a shipped file holds."""

    kind: str
    name: str
    version: str
    #: An SPDX expression.
    license: str
    #: Name and value of the digest by which the registry's file is checked.
    digest: tuple[str, str] | None
    folder: Path | None
    needs: set[str] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Its package URL, which names it in the bill."""
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"


def parts(home: Path, machine: str) -> list[Part]:
    """All parts of what is in `home`."""
    found: dict[str, Part] = {}
    for workspace, shipped in CRATES.items():
        crates = {crate for file, crate in shipped.items() if (home / file).is_file()}
        for part in crates_of(ROOT / workspace, crates, machine) if crates else []:
            known = found.setdefault(part.url, part)
            known.needs |= part.needs
    for part in [standard_library(home / "tacho"), *npm_packages()]:
        found[part.url] = part
    return sorted(found.values(), key=lambda part: part.url)


def crates_of(workspace: Path, crates: set[str], machine: str) -> list[Part]:
    """The crates that these crates of a workspace are linked of."""
    platform = f"{machine}-unknown-linux-gnu"
    named = [word for crate in sorted(crates) for word in ("-p", crate)]
    # Only `tree` leaves out what features of tests bring in; only `metadata` has licences and folders.
    tree = cargo(workspace, "tree", "--target", platform, "-e", "normal", "--prefix", "none", "--format", "{p}", *named)
    linked = set(re.findall(r"^(\S+) v(\S+)", tree, flags=re.M))
    metadata = json.loads(cargo(workspace, "metadata", "--format-version", "1", "--filter-platform", platform))
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {
        node["id"]: [of["pkg"] for of in node["deps"] if any(kind["kind"] is None for kind in of["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    locked = tomllib.loads((workspace / "Cargo.lock").read_text())["package"]
    digests = {(of["name"], of["version"]): of["checksum"] for of in locked if "checksum" in of}
    left = [id for id, package in packages.items() if package["name"] in crates and package["source"] is None]
    assert len(left) == len(crates), f"{workspace}: has not all of {crates}"
    seen: dict[str, Part] = {}
    while left:
        id = left.pop()
        package = packages[id]
        if id in seen or (package["name"], package["version"]) not in linked:
            continue
        left += edges[id]
        checksum = digests.get((package["name"], package["version"]))
        seen[id] = Part(
            kind="cargo",
            name=package["name"],
            version=package["version"],
            license=expression(package["license"] or "NOASSERTION"),
            digest=("SHA-256", checksum) if checksum else None,
            folder=Path(package["manifest_path"]).parent if package["source"] else None,
        )
    for id, part in seen.items():
        part.needs = {seen[of].url for of in edges[id] if of in seen}
    return list(seen.values())


def cargo(workspace: Path, *words: str) -> str:
    """What cargo prints about a workspace."""
    said = subprocess.run(["cargo", *words, "--locked"], cwd=workspace, capture_output=True, text=True)
    if said.returncode != 0:
        raise SystemExit(f"dist: cargo {words[0]} in {workspace}: {said.stderr}")
    return said.stdout


def expression(license: str) -> str:
    """Old manifests separate alternatives by a slash, which SPDX writes as OR."""
    return re.sub(r"\s*/\s*", " OR ", license.strip())


def standard_library(program: Path) -> Part:
    """Rust's standard library, whose version each program has in a section."""
    said = subprocess.run(["readelf", "-p", ".comment", program], capture_output=True, text=True, check=True).stdout
    version = re.search(r"rustc version ([\w.-]+)", said).group(1)
    return Part("generic", "rust-std", version, "MIT OR Apache-2.0", None, None)


def npm_packages() -> list[Part]:
    """The packages that the report page holds."""
    locked = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    shipped = {path: of for path, of in locked.items() if path and not of.get("dev")}
    url = {path.rpartition("node_modules/")[2]: "" for path in shipped}
    found = []
    for path, of in shipped.items():
        name = path.rpartition("node_modules/")[2]
        algorithm, _, value = of["integrity"].partition("-")
        digest = ("SHA-512", base64.b64decode(value).hex()) if algorithm == "sha512" else None
        found.append(Part("npm", name, of["version"], of["license"], digest, ROOT / "web" / path))
        url[name] = found[-1].url
    for part, of in zip(found, shipped.values()):
        part.needs = {url[name] for name in of.get("dependencies", {})}
    return found


def licenses(parts: list[Part]) -> str:
    """The texts of all licences, each once, after the names of the parts that are under it."""
    by_text: dict[str, list[str]] = {}
    without = []
    for part in parts:
        if part.folder is None:
            if part.kind != "cargo":
                without.append(part)
            continue
        if not part.folder.is_dir():
            raise SystemExit(f"dist: {part.folder}: not there; it holds the licence of {part.url}: make build")
        texts = [path for path in sorted(part.folder.iterdir()) if LICENSE_FILE.fullmatch(path.name) and path.is_file()]
        for path in texts:
            text = path.read_text(errors="replace").strip().replace("\r\n", "\n")
            by_text.setdefault(text, []).append(f"{part.name} {part.version} ({part.license})")
        if not texts:
            without.append(part)
    said = ["Tachograph is under the Apache License 2.0. Its binaries hold these libraries.\n"]
    for part in without:
        said.append(f"{part.name} {part.version}: {part.license}; its package holds no text of it.")
    for text, names in sorted(by_text.items(), key=lambda of: of[1]):
        said.append("\n" + "=" * 80 + "\n" + "\n".join(sorted(set(names))) + "\n\n" + text)
    return "\n".join(said) + "\n"


def bill(parts: list[Part], version: str, created: str) -> bytes:
    """The bill of materials."""
    whole = {"type": "application", "name": "tachograph", "version": version, "bom-ref": f"tachograph@{version}"}
    components = []
    for part in parts:
        one = {"type": "library", "name": part.name, "version": part.version, "bom-ref": part.url, "purl": part.url}
        if part.license != "NOASSERTION":
            one["licenses"] = [{"expression": part.license}]
        if part.digest:
            one["hashes"] = [{"alg": part.digest[0], "content": part.digest[1]}]
        components.append(one)
    ours = {part.url for part in parts if part.kind == "cargo" and part.folder is None}
    whole_needs = sorted(ours | {part.url for part in parts if part.kind != "cargo"})
    edges = [{"ref": whole["bom-ref"], "dependsOn": whole_needs}]
    edges += [{"ref": part.url, "dependsOn": sorted(part.needs)} for part in parts]
    content = {"metadata": {"timestamp": created, "component": whole}, "components": components, "dependencies": edges}
    name = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    head = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, name)}",
        "version": 1,
    }
    return json.dumps(head | content, indent=1).encode() + b"\n"
