//! Tasks in workload files: what is read, swept and refused.

use tacho_workload::model::Work;
use tacho_workload::tasks::{TaskKind, TaskParameter, TaskSlot};
use tacho_workload::{parse, sweep, Errors, Overrides, Sweep};

fn kinds() -> Vec<TaskKind> {
    let slot = |name: &str, size_bytes, optional| TaskSlot { name: name.into(), size_bytes, optional };
    let speed = TaskParameter { name: "speed".into(), unit: "m/s".into(), greatest: 50.0, ..Default::default() };
    vec![
        TaskKind { name: "odometry".into(), outputs: vec![slot("pose", 64, false)], ..Default::default() },
        TaskKind {
            name: "planner".into(),
            parameters: vec![speed],
            inputs: vec![slot("pose", 0, false), slot("objects", 0, true)],
            outputs: vec![slot("trajectory", 4096, false)],
            ..Default::default()
        },
        TaskKind { name: "detector".into(), missing: Some("Not built: make perception.".into()), ..Default::default() },
    ]
}

fn read(text: &str) -> Result<Sweep, Errors> {
    let overrides = Overrides { tasks: Some(kinds()), ..Overrides::default() };
    sweep(text, "w.yaml", &overrides).map(|(sweep, warnings)| {
        assert!(warnings.is_empty(), "{}", warnings[0]);
        sweep
    })
}

/// A planner with this work, which publishes this much, of these inputs.
fn planner(work: &str, size: &str, subscribes: &str) -> String {
    format!(
        "nodes:
  odometry: {{work: {{task: odometry}}, publishes: {{/pose: {{rate: 10 Hz}}}}}}
  planner:
    work: {work}
    subscribes: [{subscribes}]
    publishes: {{/trajectory: {{size: {size}}}}}
  control: {{subscribes: [/trajectory]}}
"
    )
}

#[test]
fn a_task_and_its_parameters_are_read_as_written() {
    let sweep = read(&planner("{task: planner, speed: 18 km/h}", "4 KiB", "/pose")).unwrap_or_else(|e| panic!("{e}"));
    let parameters = vec![("speed".to_owned(), "18 km/h".to_owned())];
    assert_eq!(sweep.points[0].workload.nodes[1].work, Work::Task { name: "planner".into(), parameters });
}

#[test]
fn a_parameter_may_be_swept_by_a_list_or_by_name() {
    let listed = planner("{task: planner, speed: [5 m/s, 10 m/s]}", "4 KiB", "/pose");
    let named = planner("{task: planner, speed: $speed}", "4 KiB", "/pose") + "sweep: {speed: [5 m/s, 10 m/s]}\n";
    for text in [listed, named] {
        let sweep = read(&text).unwrap_or_else(|e| panic!("{e}"));
        let speeds: Vec<_> = sweep.points.iter().map(|point| point.parameters["speed"].as_str()).collect();
        assert_eq!(speeds, ["5 m/s", "10 m/s"]);
    }
}

#[test]
fn what_a_task_does_not_have_is_an_error_with_its_place() {
    let cases = [
        ("{task: detector, speed: 5}", "4 KiB", "/pose", "missing-task", 4, "Not built: make perception."),
        ("{task: plannner}", "4 KiB", "/pose", "unknown-task", 4, "one of odometry, planner; did you mean `planner`?"),
        ("{task: planner, sped: 5 m/s}", "4 KiB", "/pose", "unknown-key", 4, "one of speed; did you mean `speed`?"),
        ("{task: planner, speed: 5}", "4 KiB", "/pose", "wrong-value", 4, "(m/s, km/h), from 0 to 50 m/s"),
        ("{task: planner, speed: 60 m/s}", "4 KiB", "/pose", "wrong-value", 4, "from 0 to 50 m/s"),
        ("{task: planner, speed: {}}", "4 KiB", "/pose", "wrong-value", 4, "such as 5 m/s"),
        ("{task: [planner]}", "1 KiB", "/pose", "task-size", 6, "size: 4 KiB, or more, for its trajectory"),
        ("{task: planner}", "4 KiB", "", "task-endpoints", 4, "in this order: pose, objects (optional)"),
        ("{task: }", "4 KiB", "/pose", "missing-value", 4, "a name"),
    ];
    for (work, size, subscribes, name, line, expected) in cases {
        let text = planner(work, size, subscribes).replace("subscribes: []\n", "on: timer 10 Hz\n");
        let error = &read(&text).expect_err(work).errors[0];
        assert_eq!((error.name, error.line), (name, line), "{error}");
        assert!(error.expected.contains(expected), "{error}");
    }
}

#[test]
fn a_node_on_a_client_library_runs_a_task_and_its_mistakes_are_found() {
    for middleware in ["rclcpp", "rclpy"] {
        let text = |work: &str| format!("middleware: {middleware}\n{}", planner(work, "4 KiB", "/pose"));
        assert!(read(&text("{task: planner}")).is_ok(), "{middleware}");
        let errors = read(&text("{task: planer}")).expect_err(middleware).errors;
        assert_eq!(errors[0].name, "unknown-task", "{}", errors[0]);
    }
}

#[test]
fn where_no_kinds_are_known_any_task_is_accepted() {
    let text = planner("{task: nobody_knows, colour: red}", "1 B", "/pose");
    assert!(parse(&text, "w.yaml").is_ok());
    let overrides = Overrides { tasks: Some(vec![]), ..Overrides::default() };
    let error = &sweep(&text, "w.yaml", &overrides).expect_err("no library").errors[0];
    assert!(error.expected.contains("libtacho_tasks_*.so"), "{error}");
}
