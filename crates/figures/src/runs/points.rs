//! Figures of what was analysed before: a repeated run from its tables, a sweep from the figures of its points.

use crate::figures::Repeat;
use crate::summarise::summarise;
use std::collections::BTreeMap;
use std::io;
use tacho_analysis::Error;
use tacho_analysis::Options;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tables::Note;
use tacho_workload::model::Workload;

/// Most points that a note names.
const NAMED_POINTS: usize = 3;

/// The figures of a run over the tables of those of its repeats that were analysed; its events are not read, and need
/// not be there.
pub fn figures_of_tables(run: &RunDirectory, workload: Option<&Workload>) -> Result<Summary, Error> {
    let mut analysed = Vec::new();
    for repeat in run.repeats().map_err(Error::Info)?.iter().filter(|repeat| repeat.summary().is_file()) {
        analysed.push((store::read(&repeat.tables())?, repeat.info().map_err(Error::Info)?));
    }
    let repeats: Vec<Repeat<'_>> = analysed
        .iter()
        .map(|(tables, info)| Repeat {
            tables,
            options: Options {
                measured_from_ns: info.measured_from_ns,
                measured_to_ns: info.measured_to_ns,
                ..Options::default()
            },
            info: Some(info),
        })
        .collect();
    Ok(summarise(&repeats, workload))
}

/// The figures of a sweep: those of its points, one after the other, with what each varies; what a point lacks is a
/// note. Callbacks, topics and chains stay in the points' own summaries.
pub fn merge_points(run: &RunDirectory) -> Result<Summary, Error> {
    let directories = run.points().map_err(Error::Info)?;
    let mut summary = Summary::default();
    let mut notes = Notes::default();
    for directory in &directories {
        let name = directory.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let info = match directory.info() {
            Ok(info) => info,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                notes.add(&name, "point-not-run", 1, "was not run, or not to its end");
                RunInfo::default()
            }
            Err(error) => return Err(Error::Info(error)),
        };
        info.missing.iter().for_each(|text| notes.add(&name, "point-incomplete", 1, text));
        if directory.summary().is_file() {
            let of_point = store::read_summary(directory)?;
            of_point.notes.iter().for_each(|note| notes.add(&name, &note.name, note.count, &note.text));
            summary.points.extend(of_point.points.into_iter().map(|mut point| {
                point.parameters = info.parameters.clone();
                point
            }));
        }
    }
    summary.notes = notes.finish(directories.len());
    Ok(summary)
}

/// Notes of many points: what is true of several is said once, and of which.
#[derive(Default)]
struct Notes {
    order: Vec<(String, String)>,
    found: BTreeMap<(String, String), (u64, Vec<String>)>,
}

impl Notes {
    fn add(&mut self, point: &str, name: &str, count: u64, text: &str) {
        let key = (name.to_owned(), text.to_owned());
        let (total, points) = self.found.entry(key.clone()).or_insert_with(|| {
            self.order.push(key);
            (0, vec![])
        });
        *total += count;
        if points.last().is_none_or(|last| last != point) {
            points.push(point.to_owned());
        }
    }

    fn finish(mut self, points: usize) -> Vec<Note> {
        let mut notes = Vec::new();
        for key in self.order {
            let Some((count, of)) = self.found.remove(&key) else { continue };
            let (name, text) = key;
            let where_it_is = match of.len() {
                all if all == points => "at every point".to_owned(),
                few if few <= NAMED_POINTS => of.join(", "),
                many => format!("{} and {} more points", of[..NAMED_POINTS].join(", "), many - NAMED_POINTS),
            };
            notes.push(Note { name, count, text: format!("{where_it_is}: {text}") });
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::summary::Point;

    fn point(run: &RunDirectory, name: &str, info: RunInfo, notes: Vec<Note>) {
        let directory = run.point(name);
        std::fs::create_dir_all(directory.path()).unwrap();
        directory.write_info(&info).unwrap();
        if info.missing.is_empty() {
            let figures = Point { sent: info.parameters.len() as u64, ..Point::default() };
            store::write_summary(&directory, &Summary { points: vec![figures], notes, ..Summary::default() }).unwrap();
        }
    }

    #[test]
    fn points_stand_in_their_order_with_what_they_vary_and_what_they_lack() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path());
        let of = |size: &str| RunInfo { parameters: [("size".into(), size.into())].into(), ..RunInfo::default() };
        let note = || vec![Note { name: "clock-error".into(), count: 2, text: "3 us".into() }];
        point(&run, "001-64KiB", of("64 KiB"), note());
        point(&run, "000-16B", of("16 B"), note());
        point(&run, "002-1MiB", RunInfo { missing: vec!["no such plugin".into()], ..of("1 MiB") }, vec![]);
        std::fs::create_dir_all(run.point("003-2MiB").path()).unwrap();
        let summary = merge_points(&run).unwrap();
        let sizes: Vec<_> = summary.points.iter().map(|point| point.parameters["size"].as_str()).collect();
        assert_eq!(sizes, ["16 B", "64 KiB"]);
        let notes: Vec<_> = summary.notes.iter().map(|n| (n.name.as_str(), n.count, n.text.as_str())).collect();
        assert_eq!(
            notes,
            [
                ("clock-error", 4, "000-16B, 001-64KiB: 3 us"),
                ("point-incomplete", 1, "002-1MiB: no such plugin"),
                ("point-not-run", 1, "003-2MiB: was not run, or not to its end"),
            ]
        );
    }
}
