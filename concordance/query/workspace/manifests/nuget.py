"""Packages of .NET: project files, `.nuspec`, `packages.config` and central package versions."""

from __future__ import annotations

from concordance.query.workspace.manifests import NamedVersion, PackageManifest, xml_elements

FILES = ("*.csproj", "*.fsproj", "*.vbproj", "*.nuspec", "packages.config", "Directory.Packages.props")
_REFERENCES = ("PackageReference", "PackageVersion", "package", "dependency")
_IDS = ("PackageId", "id")


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says; a project without an id has the name of its file."""
    name, version, line = "", "", 1
    needs: list[NamedVersion] = []
    inner = ""
    for element in xml_elements(text):
        tag, around = element.path[-1], element.path[-2:-1]
        if tag == "Version" and around == ("PackageReference",):
            inner = element.text
        elif tag in _REFERENCES and (asked := element.attributes.get("Include") or element.attributes.get("id")):
            wanted = element.attributes.get("Version") or element.attributes.get("version") or inner
            needs.append(NamedVersion(asked.lower(), wanted, element.line))
            inner = ""
        elif tag in _IDS and around in (("PropertyGroup",), ("metadata",)):
            name, line = element.text, element.line
        elif tag in ("Version", "version") and around in (("PropertyGroup",), ("metadata",)):
            version = element.text
    if not name and path.endswith("proj"):
        name = path.rpartition("/")[2].rpartition(".")[0]
    return PackageManifest((NamedVersion(name.lower(), version, line),) if name else (), tuple(needs))
