"""A workload whose node has a pool of four threads: a message comes every 20 ms, and its callback sleeps."""


def thread_pool(group, sleep="45 ms"):
    return f"""
middleware: inproc
nodes:
  lidar: {{publishes: {{/points: {{rate: 50 Hz, depth: 100}}}}}}
  node:
    thread: many
    threads: 4
    subscribes: {{/points: {{sleep: {sleep}, depth: 100, group: {group}}}}}
    timers: {{tick: {{rate: 20 Hz, sleep: 30 ms, group: {group}}}}}
    publishes: {{/pose: {{from: /points, depth: 100}}}}
  beside: {{thread: many, subscribes: {{/pose: {{depth: 100}}}}}}
  planner: {{subscribes: {{/pose: {{depth: 100}}}}}}
chains: {{points: [lidar, node, planner]}}
run: {{duration: 4 s}}
"""
