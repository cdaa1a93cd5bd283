"""Running a cluster: replicas and leaders, what the tools print, and faults and how they are found."""
