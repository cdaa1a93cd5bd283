"""The settings of somebody's own files: read, recognised, held to a release."""
