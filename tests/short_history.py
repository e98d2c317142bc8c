"""A writer on Fast DDS that refuses sends: it keeps ten messages until a reliable reader has them. If the reader has
stopped, the next one has no room."""

SHORT_HISTORY = """<dds xmlns="http://www.eprosima.com"><profiles><data_writer profile_name="short" is_default_profile="true"><topic>
<resourceLimitsQos><max_samples>10</max_samples><max_instances>1</max_instances><max_samples_per_instance>10</max_samples_per_instance>
</resourceLimitsQos></topic></data_writer></profiles></dds>"""

WORKLOAD = """
middleware: {middleware}
nodes:
  talker: {{publishes: {{/x: {{rate: 20 Hz, history: keep_all}}}}}}
  listener: {{subscribes: {{/x: {{history: keep_all}}}}}}
run: {{duration: 120 s}}
"""


def start_bench(tacho, middleware: str):
    """Starts `tacho bench` of a talker with such a writer and its listener, into `run`."""
    (tacho.directory / "short.xml").write_text(SHORT_HISTORY)
    profiles = str(tacho.directory / "short.xml")
    for variable in ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE"):  # of Fast DDS 3, and 2 (Jazzy)
        tacho.environment[variable] = profiles
    tacho.environment["RMW_FASTRTPS_USE_QOS_FROM_XML"] = "1"
    (tacho.directory / "w.yaml").write_text(WORKLOAD.format(middleware=middleware))
    return tacho.start("bench", "w.yaml", "-o", "run")
