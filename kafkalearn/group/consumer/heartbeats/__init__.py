"""What a coordinator does with a heartbeat: it refuses it, or looks at the subscription, the target, the member."""
