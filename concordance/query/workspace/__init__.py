"""Questions about many repositories at once.

`workspace_file` lists the repositories. `entries` derives what the catalogue has of one (`facts/catalogue.py`), with
the readers in `manifests`. `repositories` opens the workspace: the catalogue, and stores as they are needed. `linking`
follows an import from one repository into another, `commands` answers `define`, `refs`, `callers`, `impact`, `path` and
`search`.
"""
