//! The report as a file, and the text renderings, of made-up runs.

mod sample;

use sample::Wake;
use tacho_report::{render_before_after, render_explain, write, Error, ReportRun, Terminal};

#[test]
fn a_report_is_one_whole_file() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("report.html");
    write(&sample::tuned(), &out).unwrap();
    let html = std::fs::read_to_string(&out).unwrap();
    let data = html.split_once(r#"id="tacho-data">"#).unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["runs"][0]["label"], "untuned");
    assert_eq!(data["runs"][2]["chains"][0]["instances"][1]["hops"].as_array().unwrap().len(), 9);
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing stands beside it: {left:?}");
}

#[test]
fn a_sweep_is_shown_with_what_its_study_published() {
    let run = ReportRun { sweep: Some(sample::sweep::sweep()), ..sample::run("study-a-dds", Wake::Arrival) };
    let page = serde_json::to_value(tacho_report::page::page(&[run]).unwrap()).unwrap();
    let sweep = &page["runs"][0]["sweep"];
    assert_eq!(sweep["points"].as_array().unwrap().len(), 9);
    assert_eq!(sweep["parameters"], serde_json::json!(["kind", "middleware", "size"]));
    assert_eq!(sweep["study"]["id"], "a-dds");
    assert_eq!(sweep["points"][8]["figures"], serde_json::Value::Null);
    let (drawn, figures) = (&sweep["points"][2]["latency_us"], &sweep["points"][2]["figures"]["latency_us"]);
    assert!(drawn["high"].as_f64() <= figures["max"].as_f64() && drawn["low"].as_f64() >= figures["min"].as_f64());
    let of_point = sweep.to_string().len() / 9;
    assert!(of_point < 16_000, "60 points fit in a page of 1 MB: {of_point} B a point");
}

#[test]
fn what_is_in_doubt_is_said_before_anything_that_is_told() {
    let mut run = sample::run("doubtful", Wake::Arrival);
    let text = "messages that /listener /chatter received and that cannot be linked to their publications";
    run.summary.notes.push(tacho_analysis::tables::Note { name: "not-linked".into(), count: 20, text: text.into() });
    let told = Terminal { width: 400, ..Terminal::default() }.explain(&run.summary, &run.info);
    let (doubt, chain) = (told.find(&format!("In doubt: 20 {text}.")), told.find("Critical chain"));
    assert!(doubt.is_some() && doubt < chain, "{told}");
}

#[test]
fn the_hops_of_a_drawn_instance_add_up_to_it() {
    for run in &sample::tuned() {
        let page = tacho_report::page::page(std::slice::from_ref(run)).unwrap();
        for instance in &page.runs[0].chains[0].instances {
            let sum = instance.computation_ms + instance.alignment_ms.unwrap_or(0.0) + instance.queueing_ms + instance.kept_ms.unwrap_or(0.0) + instance.transport_ms;
            assert!((sum - instance.end_to_end_ms).abs() < 1e-6);
            assert!((instance.hops.last().unwrap().output_ms - instance.end_to_end_ms).abs() < 1e-6);
        }
        let means: f64 = page.runs[0].chains[0]
            .hops
            .iter()
            .map(|hop| {
                hop.computation_ms
                    + hop.alignment_ms.unwrap_or(0.0)
                    + hop.queueing_ms.unwrap_or(0.0)
                    + hop.transport_ms.unwrap_or(0.0)
            })
            .sum();
        let mean = run.summary.chains[0].end_to_end_ms.as_ref().unwrap().mean;
        assert!((means - mean).abs() < 1e-6 * mean, "{means} {mean}");
    }
}

#[test]
fn tables_that_point_nowhere_are_refused() {
    let mut run = sample::run("untuned", Wake::Arrival);
    run.tables.instances[7].chain = 9;
    match tacho_report::page::page(&[run]) {
        Err(error @ Error::DanglingRow { .. }) => {
            assert_eq!(error.to_string(), "untuned: row 7 of table instances names chain 9, but there are only 1")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_run_is_no_report() {
    assert!(matches!(write(&[], std::path::Path::new("/nonexistent/report.html")), Err(Error::NoRuns)));
}

#[test]
fn a_report_that_cannot_be_written_names_its_place() {
    let error = write(&sample::tuned(), std::path::Path::new("/nonexistent/report.html")).unwrap_err();
    assert!(error.to_string().starts_with("/nonexistent/report.html"), "{error}");
}

#[test]
fn an_explanation_fits_the_width_and_holds_the_figures() {
    let run = sample::run("untuned", Wake::Spin { hz: 10.0 });
    let text = render_explain(&run.summary, &run.info);
    println!("{text}");
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 100, "{longest}\n{text}");
    let figures = run.summary.chains[0].end_to_end_ms.as_ref().unwrap();
    assert!(text.contains(&format!("{:.2}", figures.mean)) && text.contains(&format!("{:.2}", figures.max)), "{text}");
    for found in [
        "Critical chain localisation (lidar_driver to vehicle_interface)",
        "ndt_matching",
        "/points_raw",
        "late-start (3)",
        "100.01",
        "Means of 5 repeats: ",
        "–",
    ] {
        assert!(text.contains(found), "{found} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'));
    let layers = text.split("Layers:").nth(1).expect("layers");
    assert!(layers.contains("  publish dds") && layers.contains("take rcl to take client library"), "{layers}");
}

#[test]
fn before_and_after_give_the_gain_on_one_scale() {
    let runs = sample::tuned();
    let pairs: Vec<_> = runs.iter().map(|run| (run.label.as_str(), &run.summary)).collect();
    let text = render_before_after(&pairs);
    println!("{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let mean = |i: usize| runs[i].summary.chains[0].end_to_end_ms.as_ref().unwrap().mean;
    for i in 0..3 {
        assert!(text.contains(&format!("{:.2}x", mean(0) / mean(i))), "{text}");
    }
    let marks = |label: &str| {
        text.lines().filter(|line| line.starts_with(label)).flat_map(str::chars).filter(|c| "█▓░▒".contains(*c)).count()
    };
    let ratio = marks("untuned") as f64 / marks("arrival") as f64;
    assert!((ratio / (mean(0) / mean(2)) - 1.0).abs() < 0.2, "bars of {ratio} for times of {}", mean(0) / mean(2));
}

#[test]
fn a_run_without_the_chain_is_named_and_not_counted_as_zero() {
    let before = sample::run("untuned", Wake::Arrival);
    let mut after = before.summary.clone();
    after.chains.clear();
    let text = render_before_after(&[("before", &before.summary), ("after", &after)]);
    assert!(text.contains("after: has no chain with the path of localisation"), "{text}");
    let row = text.lines().find(|line| line.starts_with("after")).unwrap();
    assert!(!row.contains(|c: char| c.is_ascii_digit()) && row.matches('–').count() == 9, "{row}");
}

#[test]
fn a_terminal_gets_colour_when_told() {
    let run = sample::run("untuned", Wake::Arrival);
    let text = Terminal { width: 80, colour: true, whole: false }.explain(&run.summary, &run.info);
    assert!(text.contains("\u{1b}[33m░"), "{text}");
}
