"""Artifacts of Maven: `pom.xml`, and the dependencies of a Gradle build file."""

from __future__ import annotations

import re

from concordance.query.workspace.manifests import NamedVersion, PackageManifest, xml_elements

FILES = ("pom.xml", "build.gradle", "build.gradle.kts")
_GRADLE = re.compile(r"^\s*\w+[ (]+[\"']([\w.-]+:[\w.-]+):([^\"'@:]+)[^\"']*[\"']", re.M)


def read(path: str, text: str) -> PackageManifest:
    """Return what a manifest says."""
    if not path.endswith(".xml"):
        matches = _GRADLE.finditer(text)
        return PackageManifest(
            (), tuple(NamedVersion(match[1], match[2], text.count("\n", 0, match.start(1)) + 1) for match in matches)
        )
    project: dict[str, str] = {}
    parent: dict[str, str] = {}
    needs: list[NamedVersion] = []
    values: dict[str, str] = {}
    inside: dict[str, str] = {}  # the dependency that is being read
    line = 1
    for element in xml_elements(text):
        around, name = element.path[:-1], element.path[-1]
        if around == ("project",):
            project[name] = element.text
            line = element.line if name == "artifactId" else line
        elif around == ("project", "parent"):
            parent[name] = element.text
        elif around == ("project", "properties"):
            values[name] = element.text
        elif name == "dependency" and "plugin" not in around:
            name = f"{inside.get('groupId', '')}:{inside.get('artifactId', '')}"
            needs.append(NamedVersion(name, inside.get("version", ""), element.line))
            inside = {}
        elif around[-1:] == ("dependency",):
            inside[name] = element.text
    group, artifact = project.get("groupId") or parent.get("groupId", ""), project.get("artifactId", "")
    version = _filled(project.get("version") or parent.get("version", ""), values)
    packages = (NamedVersion(f"{group}:{artifact}", version, line),) if artifact else ()
    values["project.groupId"], values["project.version"] = group, version
    return PackageManifest(packages, tuple(_resolved(dependency, values) for dependency in needs))


def _resolved(dependency: NamedVersion, values: dict[str, str]) -> NamedVersion:
    return dependency._replace(name=_filled(dependency.name, values), version=_filled(dependency.version, values))


def _filled(text: str, values: dict[str, str]) -> str:
    """Replace `${name}` by the property of that name."""
    return re.sub(r"\$\{([^}]*)\}", lambda match: values.get(match[1], match[0]), text)
