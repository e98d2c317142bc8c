//! The report as a file, and the text renderings, of made-up runs.

mod sample;

use sample::Wake;
use tacho_report::{render_before_after, render_explain, write, Error, ReportRun, Terminal};
use tacho_tables::row::Row;
use tacho_tables::Parts;

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
    assert_eq!(sweep["parameters"], serde_json::json!(["kind", "middleware", "network", "size"]));
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
    run.summary.notes.push(tacho_tables::Note { name: "not-linked".into(), count: 20, text: text.into() });
    let told = Terminal { width: 400, ..Terminal::default() }.explain(&run.summary, &run.info);
    let (doubt, chain) = (told.find(&format!("In doubt: 20 {text}.")), told.find("Critical chain"));
    assert!(doubt.is_some() && doubt < chain, "{told}");
    let page = serde_json::to_value(tacho_report::page::page(&[run]).unwrap()).unwrap();
    assert_eq!(page["runs"][0]["in_doubt"][0]["text"], text);
}

#[test]
fn parts_of_hops_instances_means_and_figures_add_up_to_the_end_to_end_time() {
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    let mut runs = sample::tuned();
    runs.push(sample::preempted());
    for run in &runs {
        let page = tacho_report::page::page(std::slice::from_ref(run)).unwrap();
        let chain = &page.runs[0].chains[0];
        for instance in &chain.instances {
            close(instance.parts.whole_ms(), instance.end_to_end_ms);
            close(instance.hops.last().unwrap().output_ms, instance.end_to_end_ms);
            let of_hops: Parts<f64> = instance.hops.iter().map(|hop| hop.parts).sum();
            for (found, expected) in of_hops.each().into_iter().zip(instance.parts.each()) {
                assert_eq!(found.is_some(), expected.is_some());
                close(*found.unwrap_or(&0.0), *expected.unwrap_or(&0.0));
            }
            let drawn = instance.hops.iter().flat_map(|hop| &hop.preemptions).map(|p| p.to_ms - p.from_ms).sum();
            close(drawn, instance.parts.preemption.unwrap_or(0.0));
            let drawn = instance.hops.iter().flat_map(|hop| &hop.blocked).map(|b| b.to_ms - b.from_ms).sum();
            close(drawn, instance.parts.off_cpu.unwrap_or(0.0));
        }
        let figures = &run.summary.chains[0];
        let mean = figures.end_to_end_ms.as_ref().unwrap().mean;
        close(chain.hops.iter().map(|hop| hop.parts).sum::<Parts<f64>>().whole_ms(), mean);
        close(figures.parts.as_ref().unwrap().map(|part| part.mean).whole_ms(), mean);
    }
    let page = tacho_report::page::page(&runs[3..]).unwrap();
    let parts = page.runs[0].chains[0].instances[0].parts;
    close(parts.preemption.unwrap(), 1.5);
    close(parts.off_cpu.unwrap(), 4.0);
    assert!(parts.computation > 16.0, "{parts:?}");
    let blocked = page.runs[0].chains[0].instances[0].hops.iter().flat_map(|hop| &hop.blocked);
    assert_eq!(blocked.map(|b| b.woken_by).collect::<Vec<_>>(), [Some("feeder")]);
}

#[test]
fn tables_that_point_nowhere_are_refused() {
    let mut run = sample::run("untuned", Wake::Arrival);
    run.tables.instances[7].chain = Row::new(9);
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
fn a_sweep_and_a_single_run_are_no_page() {
    let mut runs = sample::tuned();
    runs[1].sweep = Some(sample::sweep::sweep());
    let error = write(&runs, std::path::Path::new("/nonexistent/report.html")).unwrap_err();
    assert!(matches!(&error, Error::Mixed { sweep, .. } if *sweep == runs[1].label), "{error}");
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
        let drawn = text.lines().filter(|line| line.starts_with(label)).flat_map(str::chars);
        drawn.filter(|c| "█▓░▒".contains(*c)).count()
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

#[test]
fn the_rest_is_named_and_shown_when_asked_for() {
    let mut run = sample::run("untuned", Wake::Spin { hz: 10.0 });
    let verdict =
        tacho_tables::summary::Verdict { text: "Nothing stands out: it is fast.".into(), ..Default::default() };
    run.summary.verdict = Some(verdict);
    let short = render_explain(&run.summary, &run.info);
    assert!(short.starts_with("Nothing stands out") && short.contains("end to end"), "{short}");
    for (title, name) in [("\nCallbacks:", "callbacks"), ("\nTopics:", "topics"), ("\nLayers:", "layers")] {
        assert!(
            !short.contains(title) && short.split("--all shows the rest").nth(1).unwrap().contains(name),
            "{short}"
        );
        let whole = Terminal { whole: true, ..Terminal::default() }.explain(&run.summary, &run.info);
        assert!(whole.contains(title) && !whole.contains("--all"), "{whole}");
    }
    let closing = Terminal::default().closing(&run.summary, &run.info).unwrap();
    assert!(closing.starts_with("Nothing stands out") && closing.contains("late-start (3)"), "{closing}");
    assert!(!closing.contains("end to end") && closing.lines().count() < 12, "{closing}");
}

#[test]
fn a_reason_that_repeats_is_told_once_in_text_and_on_the_page() {
    let mut run = sample::run("untuned", Wake::Arrival);
    let note = |n: u64| tacho_tables::Note {
        name: "never-taken".into(),
        count: 2,
        text: format!("messages on /t{n} from /a that /b{n} never took: not known"),
    };
    run.summary.notes.extend((0..30).map(note));
    run.info.missing = (0..30).map(|n| format!("process talker_{n} was killed by signal 9 before the end")).collect();
    let text = render_explain(&run.summary, &run.info).replace("\n  ", " ");
    assert_eq!((text.matches("never-taken").count(), text.matches("was killed by signal 9").count()), (1, 1), "{text}");
    assert!(
        text.contains(
            "- never-taken (60): messages on /t0 from /a that /b0 never took: not known (the same of /t1 /a /b1, "
        ),
        "{text}"
    );
    assert!(text.contains("process talker_3 and 26 more)"), "{text}");
    let page = serde_json::to_value(tacho_report::page::page(&[run]).unwrap()).unwrap();
    let notes = page["runs"][0]["notes"].as_array().unwrap();
    assert_eq!(notes.iter().filter(|note| note["name"] == "never-taken").count(), 1, "{notes:?}");
}
