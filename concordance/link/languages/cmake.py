"""CMake: added folders, included modules, configured files, and packages to find.

A path is relative to the folder of the file, or, for a module that others include, to a folder above it; paths after
CMake's own variables are resolved from where these point. A package is third-party; if the repository has the module
that finds it, that module is the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from concordance.base.model import Import, Origin, Target
from concordance.link.paths import references
from concordance.link.paths.tree import Tree, enclosing_folders, join_path, shared_prefix_length

LANGUAGES = ("cmake",)
# fmt: off
_STANDARD = frozenset((
    "AddFileDependencies", "AndroidTestUtilities", "BundleUtilities", "CMakeAddFortranSubdirectory",
    "CMakeBackwardCompatibilityCXX", "CMakeDependentOption", "CMakeDetermineVSServicePack",
    "CMakeExpandImportedTargets", "CMakeFindDependencyMacro", "CMakeFindFrameworks", "CMakeFindPackageMode",
    "CMakeForceCompiler", "CMakeGraphVizOptions", "CMakePackageConfigHelpers", "CMakeParseArguments",
    "CMakePrintHelpers", "CMakePrintSystemInformation", "CMakePushCheckState", "CMakeVerifyManifest", "CPack",
    "CPackComponent", "CPackIFW", "CPackIFWConfigureFile", "CSharpUtilities", "CTest", "CTestCoverageCollectGCOV",
    "CTestScriptMode", "CTestUseLaunchers", "CheckCCompilerFlag", "CheckCSourceCompiles", "CheckCSourceRuns",
    "CheckCXXCompilerFlag", "CheckCXXSourceCompiles", "CheckCXXSourceRuns", "CheckCXXSymbolExists",
    "CheckCompilerFlag", "CheckFortranCompilerFlag", "CheckFortranFunctionExists", "CheckFortranSourceCompiles",
    "CheckFortranSourceRuns", "CheckFunctionExists", "CheckIPOSupported", "CheckIncludeFile", "CheckIncludeFileCXX",
    "CheckIncludeFiles", "CheckLanguage", "CheckLibraryExists", "CheckLinkerFlag", "CheckOBJCCompilerFlag",
    "CheckOBJCSourceCompiles", "CheckOBJCXXCompilerFlag", "CheckPIESupported", "CheckPrototypeDefinition",
    "CheckSizeOf", "CheckSourceCompiles", "CheckSourceRuns", "CheckStructHasMember", "CheckSymbolExists",
    "CheckTypeSize", "CheckVariableExists", "Dart", "DeployQt4", "Documentation", "ExternalData", "ExternalProject",
    "FeatureSummary", "FetchContent", "FindPackageHandleStandardArgs", "FindPackageMessage", "FortranCInterface",
    "GNUInstallDirs", "GenerateExportHeader", "GetPrerequisites", "GoogleTest", "InstallRequiredSystemLibraries",
    "MacroAddFileDependencies", "ProcessorCount", "SelectLibraryConfigurations", "SquishTestScript", "TestBigEndian",
    "TestCXXAcceptsFlag", "TestForANSIForScope", "TestForANSIStreamHeaders", "TestForSSTREAM", "TestForSTDNamespace",
    "UseEcos", "UseJava", "UseJavaClassFilelist", "UseJavaSymlinks", "UsePkgConfig", "UseSWIG", "UsewxWidgets",
    "Use_wxWindows", "WriteBasicConfigVersionFile", "WriteCompilerDetectionHeader",
))
# fmt: on
_HERE = re.compile(r"\$\{(?:CMAKE_CURRENT_(?:SOURCE|LIST)_DIR)\}/?")
# Another project's own variable may belong to a fetched project, so by itself it names nothing in the repository.
_TOP = re.compile(r"\$\{(?:(?:CMAKE|PROJECT)_SOURCE_DIR\}/?|\w+_SOURCE_DIR\}/(?=.))")
_BUILD_FOLDER = re.compile(r"\$\{\w*(?:BINARY|BUILD)_DIR\}")


def imports(tree: Tree) -> Callable[[str, Import], Target]:
    """Return a resolver of references between build files."""

    def resolve(path: str, imported: Import) -> Target:
        if imported.form == "find_package" and "$" in imported.module:
            return Target(Origin.UNRESOLVED, by="the path contains a variable")
        if imported.form == "find_package":
            module = _module(tree, path, f"Find{imported.module}.cmake")
            return Target(Origin.THIRD_PARTY, (module,) if module else (), package=imported.module, by="find_package")
        pages = ("CMakeLists.txt",) if imported.form == "add_subdirectory" else ()
        if imported.module in _STANDARD and imported.form == "include":
            return Target(Origin.STANDARD, package="CMake", by="module of CMake")
        target = _path(tree, path, imported.module, pages)
        if target.paths or imported.form != "include" or "/" in imported.module:
            return target
        module = _module(tree, path, f"{imported.module.removesuffix('.cmake')}.cmake")
        return Target(Origin.REPOSITORY, (module,), by="CMake module") if module else target

    return resolve


def _path(tree: Tree, path: str, written: str, pages: tuple[str, ...]) -> Target:
    words = _HERE.sub("", written, count=1) if _HERE.match(written) else written
    folder = path.rpartition("/")[0]
    bases = enclosing_folders(folder)
    if _TOP.match(words):
        words = _TOP.sub("", words, count=1) or "."
        bases = [base for base in bases if f"{base}/CMakeLists.txt".lstrip("/") in tree.paths][::-1] or bases
    elif path.endswith("CMakeLists.txt"):
        bases = bases[:1]
    if "$" not in words and not words.startswith("/"):
        endings = ("", ".in") if not pages else ()
        for base in bases:
            candidate = join_path(base, words)
            target = references.target_at(tree, candidate, endings, pages, f"from {base or 'the root'}")
            if target and (target.paths or not pages):
                return target
            outside = next(
                (
                    ancestor
                    for ancestor in enclosing_folders(candidate or "")
                    if ancestor and ancestor in tree.submodules
                ),
                "",
            )
            if outside:
                return Target(Origin.THIRD_PARTY, package=outside.rpartition("/")[2], by=f"submodule {outside}")
    if _BUILD_FOLDER.match(written):
        return Target(Origin.GENERATED, package=written, by="in the build's own folder")
    return references.resolve_path(tree, path, words, ("",) if not pages else (), pages)


def _module(tree: Tree, path: str, name: str) -> str:
    """Return the nearest module of that name in the repository, or ""."""
    paths = tree.by_name.get(name, ())
    return (
        min(paths, key=lambda candidate: (-shared_prefix_length(path, candidate), candidate.count("/"), candidate))
        if paths
        else ""
    )
