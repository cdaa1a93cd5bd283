"""What a cluster and its disks say, asked without changing anything."""
