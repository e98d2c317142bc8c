"""Nodes of a workload on rclpy: the counterpart of `tacho-node`, with rclpy's own executors, timers and conversions."""
