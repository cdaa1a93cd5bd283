"""How keys and groups fall on partitions and brokers, as figures."""
