"""Manifests of packages: what each provides and requires, with the line."""

from __future__ import annotations

import pytest

from concordance.base import plugins
from concordance.query.workspace.entries import MANIFESTS

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.shop</groupId><version>4</version></parent>
  <artifactId>till</artifactId>
  <properties><coin.version>2.5</coin.version></properties>
  <dependencies>
    <dependency><groupId>org.mint</groupId><artifactId>coin</artifactId><version>${coin.version}</version></dependency>
  </dependencies>
</project>
"""
_CASES = [
    ("pypi", "pyproject.toml", '[project]\nname = "My.Shop"\nversion = "1.2"\ndependencies = [\n  "Led_ger[x]>=2; python_version>\'3\'",\n]\n',
     ["my-shop 1.2 2"], ["led-ger >=2 5"]),
    ("pypi", "pyproject.toml", '[tool.poetry]\nname = "shop"\n[tool.poetry.dependencies]\npython = "^3"\nledger = "^2.0"\n',
     ["shop  2"], ["ledger ^2.0 5"]),
    ("pypi", "setup.cfg", "[metadata]\nname = shop\n[options]\ninstall_requires =\n  ledger>=2\n", ["shop  2"], ["ledger >=2 5"]),
    ("pypi", "setup.py", 'NEEDS = ["ledger>1"]\nsetup(\n  name="shop", version="3.1",\n  install_requires=NEEDS)\n',
     ["shop 3.1 3"], ["ledger >1 1"]),
    ("pypi", "PKG-INFO", "Metadata-Version: 2.1\nName: shop\nVersion: 2\nRequires-Dist: ledger (>=1)\n\nName: text\n",
     ["shop 2 2"], ["ledger >=1 4"]),
    ("pypi", "requirements.txt", "# all\nledger==2.1  # fixed\n-r more.txt\n", [], ["ledger ==2.1 2"]),
    ("npm", "package.json", '{\n "name": "@a/page",\n "version": "3.0.0",\n "dependencies": {\n  "tags": "^1"\n }\n}\n',
     ["@a/page 3.0.0 2"], ["tags ^1 5"]),
    ("go", "go.mod", "module example.org/shop/v2\n\nrequire (\n\texample.org/ledger v1.2.0\n)\n",
     ["example.org/shop/v2  1"], ["example.org/ledger v1.2.0 4"]),
    ("cargo", "Cargo.toml", '[package]\nname = "shop"\nversion = "0.1.0"\n[dependencies]\nledger = { version = "2", path = "x" }\n',
     ["shop 0.1.0 2"], ["ledger 2 5"]),
    ("maven", "pom.xml", _POM, ["org.shop:till 4 3"], ["org.mint:coin 2.5 6"]),
    ("maven", "build.gradle", "dependencies {\n  implementation 'org.mint:coin:2.5'\n}\n", [], ["org.mint:coin 2.5 2"]),
    ("nuget", "Shop.csproj", '<Project>\n<PropertyGroup><Version>1.0</Version></PropertyGroup>\n<ItemGroup>\n'
     '<PackageReference Include="Mint.Coin" Version="2.5" />\n</ItemGroup></Project>\n', ["shop 1.0 1"], ["mint.coin 2.5 4"]),
    ("cmake", "CMakeLists.txt", "project(Scales\n  VERSION 0.3)\nfind_package(Weights 1.1 REQUIRED)\n", ["scales 0.3 1"], ["weights 1.1 3"]),
    ("bazel", "MODULE.bazel", 'module(name = "shop", version = "1.0")\nbazel_dep(name = "rules_cc", version = "0.1")\n',
     ["shop 1.0 1"], ["rules_cc 0.1 2"]),
]  # fmt: skip


@pytest.mark.parametrize(("ecosystem", "path", "text", "packages", "requirements"), _CASES)
def test_manifests(ecosystem: str, path: str, text: str, packages: list[str], requirements: list[str]) -> None:
    found = plugins.load(MANIFESTS, ecosystem).read(path, text)
    assert [f"{one.name} {one.version} {one.line}" for one in found.packages] == packages
    assert [f"{one.name} {one.version} {one.line}" for one in found.requirements] == requirements


@pytest.mark.parametrize("ecosystem", plugins.names(MANIFESTS))
@pytest.mark.parametrize("text", ["", "[", "{" * 5000, "<a>" * 50, "\0", '<!DOCTYPE a [<!ENTITY b "c">]><project>&b;</project>', "[project]\nname = 3\n"])
def test_what_is_no_manifest_is_left_out(ecosystem: str, text: str) -> None:
    reader = plugins.load(MANIFESTS, ecosystem)
    for pattern in reader.FILES:
        found = reader.read(pattern.replace("*", "x"), text)
        assert not found.requirements
        assert all(one.name for one in found.packages)
