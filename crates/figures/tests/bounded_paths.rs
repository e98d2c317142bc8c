//! Paths beyond the bounds of a run: their figures are of all instances, and what is left out is the least and said. A
//! process of its own: bounds are one setting of it.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;
mod simulated;

use scene::*;
use std::collections::HashSet;
use std::sync::Mutex;
use tacho_analysis::{bound_paths, Options};
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::in_order::use_threads;
use tacho_tables::row::Row;
use tacho_tables::{Instance, Tables};

const PERIODS: i64 = 2_000;
const ALL: usize = usize::MAX;
/// Bounds are one setting of the process.
static BOUNDS: Mutex<()> = Mutex::new(());

fn analysed(builder: &FileBuilder, hops: usize, instances: usize) -> Tables {
    bound_paths(hops, instances);
    tables(builder)
}

/// A source that two nodes hear, the second of them later: always, and as late as nowhere else in one period.
fn two_paths() -> FileBuilder {
    let mut b = FileBuilder::new()
        .node(1, "source")
        .publisher("/out")
        .timer(100_000)
        .node(2, "near")
        .subscription("/out")
        .node(3, "far")
        .subscription("/out");
    for period in 0..PERIODS {
        let at = 100_000 * (period + 1);
        let late = if period == 1_234 { 60_000 } else { 20_000 + 7 * (period % 100) };
        b = b.process(1).at(at).start_timer().at(at + 10).publish(at).at(at + 20).end_timer();
        b = b.process(2).at(at + 1_000).start_taking(at).at(at + 2_000).end_taking();
        b = b.process(3).at(at + late).start_taking(at).at(at + late + 1_000).end_taking();
    }
    b
}

/// Everything of chains but the hops.
fn all_but_hops(tables: &Tables) -> impl PartialEq + std::fmt::Debug + '_ {
    (&tables.chains, &tables.instances, &tables.inputs, &tables.causes, &tables.links)
}

#[test]
fn beyond_the_bound_of_hops_figures_are_the_same_and_what_is_told_has_its_hops() {
    let _bounds = BOUNDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let builder = two_paths();
    let whole = analysed(&builder, ALL, ALL);
    assert_eq!((whole.chains.len(), whole.instances.len(), whole.hops.len()), (2, 4_000, 8_000));
    for (bound, sampled) in [(7_999, 2), (0, 2), (8_000, 0)] {
        let mut of_one = None;
        for threads in [1, 3] {
            use_threads(threads);
            let tables = analysed(&builder, bound, ALL);
            assert_eq!(all_but_hops(&tables), all_but_hops(&whole), "{bound}");
            let figures = |tables: &Tables| {
                serde_json::to_value(
                    &summarise(&[Repeat { tables, options: Options::default(), info: None }], None).chains,
                )
                .expect("figures")
            };
            assert_eq!(figures(&tables), figures(&whole));
            let notes: Vec<u64> = tables.notes.iter().filter(|n| n.name == "hops-sampled").map(|n| n.count).collect();
            assert_eq!(notes, [sampled][..usize::from(sampled > 0)]);
            assert_eq!(*of_one.get_or_insert_with(|| tables.hops.clone()), tables.hops, "{threads} threads");
        }
        use_threads(0);
        let hops = of_one.expect("hops");
        let rows: HashSet<String> = whole.hops.iter().map(|hop| format!("{hop:?}")).collect();
        assert!(hops.iter().all(|hop| rows.contains(&format!("{hop:?}"))));
        let with: HashSet<Row<Instance>> = hops.iter().map(|hop| hop.instance).collect();
        assert_eq!(hops.len(), 2 * with.len(), "an instance has all its hops or none");
        assert!(tables_told(&whole).is_subset(&with), "what causes are told of");
        if sampled > 0 {
            assert!(with.len() > 1_000 && with.len() < 1_400, "{}", with.len());
        } else {
            assert_eq!(hops, whole.hops);
        }
    }
    bound_paths(1_000_000, 16_000_000);
}

fn tables_told(tables: &Tables) -> HashSet<Row<Instance>> {
    tables.causes.iter().filter_map(|cause| cause.instance).collect()
}

#[test]
fn systems_by_chance_have_the_same_figures_without_room_for_hops() {
    let _bounds = BOUNDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for seed in 0..8 {
        let (builder, _) = simulated::Simulation::run(seed, |node| 100 + node as u32);
        let (whole, bounded) = (analysed(&builder, ALL, ALL), analysed(&builder, 0, ALL));
        assert_eq!(all_but_hops(&bounded), all_but_hops(&whole), "seed {seed}");
        assert!(!whole.instances.is_empty() && bounded.hops.len() <= whole.hops.len());
    }
    bound_paths(1_000_000, 16_000_000);
}

#[test]
fn where_instances_are_too_many_the_longest_path_is_followed_and_the_rest_is_said() {
    let _bounds = BOUNDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let builder = two_paths();
    let whole = analysed(&builder, ALL, ALL);
    for most in [3_999, 2_000, 1] {
        let tables = analysed(&builder, ALL, most);
        let names: Vec<&str> = tables.chains.iter().map(|chain| chain.name.as_str()).collect();
        assert_eq!((names, tables.instances.len()), (vec!["source to far"], 2_000), "{most}");
        let note = tables.notes.iter().find(|note| note.name == "paths-cut").expect("said");
        assert_eq!(note.count, 1);
        assert!(note.text.contains("would have 4000 instances"), "{}", note.text);
        let far = |tables: &Tables| tables.instances.iter().map(|i| i.end_to_end_ns).max();
        assert_eq!(far(&tables), far(&whole));
    }
    assert_eq!(analysed(&builder, ALL, 4_000), whole);
    bound_paths(1_000_000, 16_000_000);
}
