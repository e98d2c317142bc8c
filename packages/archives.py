"""Archives with the same bytes for the same content: entries sorted, times and owners fixed."""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path


def entry(name: str, path: Path, at: int) -> tarfile.TarInfo:
    """The header of a file, folder or link in an archive."""
    info = tarfile.TarInfo(name)
    info.mtime = at
    if path.is_symlink():
        info.type = tarfile.SYMTYPE
        info.linkname = str(path.readlink())
        info.mode = 0o777
    elif path.is_dir():
        info.type = tarfile.DIRTYPE
        info.mode = 0o755
    else:
        info.size = path.stat().st_size
        info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
    return info


def add_tree(archive: tarfile.TarFile, folder: Path, prefix: str, at: int):
    """Adds a folder with all that is in it, in the order of names."""
    for parent in [*reversed(Path(prefix).parents)][1:]:
        archive.addfile(entry(str(parent), folder, at))
    archive.addfile(entry(prefix, folder, at))
    for path in sorted(folder.rglob("*")):
        info = entry(f"{prefix}/{path.relative_to(folder)}", path, at)
        if info.isreg():
            with path.open("rb") as file:
                archive.addfile(info, file)
        else:
            archive.addfile(info)


def tarball(home: Path, name: str, to: Path, at: int):
    """Writes the release tarball, whose only folder is `name`."""
    with tarfile.open(to, "w:xz", format=tarfile.PAX_FORMAT, preset=6) as archive:
        add_tree(archive, home, name, at)


def image(home: Path, version: str, architecture: str, created: str, to: Path, at: int):
    """Writes an OCI image layout (image-spec 1.1) as a tar: /opt/tacho and nothing else, to COPY --from."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add_tree(archive, home, "opt/tacho", at)
    uncompressed = content.getvalue()
    layer = gzip.compress(uncompressed, mtime=0)
    config = {
        "created": created,
        "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[architecture],
        "os": "linux",
        "config": {
            "Entrypoint": ["/opt/tacho/tacho"],
            "Env": ["PATH=/opt/tacho:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "Labels": {"org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0"},
        },
        "rootfs": {"type": "layers", "diff_ids": [digest(uncompressed)]},
        "history": [{"created": created, "created_by": "make dist"}],
    }
    blobs: list[bytes] = []

    def blob(media: str, data: bytes, **more) -> dict:
        blobs.append(data)
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": digest(data), "size": len(data)} | more

    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob("config.v1+json", as_json(config)),
        "layers": [blob("layer.v1.tar+gzip", layer)],
    }
    named = {"org.opencontainers.image.ref.name": version}
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [blob("manifest.v1+json", as_json(manifest), annotations=named)],
    }
    files = {"oci-layout": as_json({"imageLayoutVersion": "1.0.0"}), "index.json": as_json(index)}
    files |= {f"blobs/sha256/{hashlib.sha256(data).hexdigest()}": data for data in blobs}
    with tarfile.open(to, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, info.size = at, 0o644, len(files[name])
            archive.addfile(info, io.BytesIO(files[name]))


def digest(data: bytes) -> str:
    """A digest as OCI writes it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def as_json(value) -> bytes:
    """JSON with its keys in order."""
    return json.dumps(value, sort_keys=True, indent=1).encode()
