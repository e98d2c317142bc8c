//! One seed draws the same in Rust, C++ and Python: a test of each reads `tests/fixtures/draws.txt`.

use std::time::Duration;
use tacho_workload::model::Work;
use tacho_workload::random::Draws;

#[test]
fn a_seed_draws_what_it_draws_in_every_language() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/draws.txt");
    let text = std::fs::read_to_string(path).expect(path);
    let mut kinds = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (asked, expected) = line.split_once(" = ").expect(line);
        let words: Vec<&str> = asked.split(' ').collect();
        let number = |index: usize| words[index].parse::<u64>().expect(line);
        let ns = |index| Duration::from_nanos(number(index));
        let mut draws = Draws::new(number(0));
        let mut draw = || match words[1] {
            "bits" => draws.bits(),
            "uniform" => draws.work_ns(&Work::Uniform { min: ns(2), max: ns(3) }, &mut None),
            "normal" => draws.work_ns(&Work::Normal { mean: ns(2), std: ns(3) }, &mut None),
            other => panic!("{other}"),
        };
        for value in expected.split(' ') {
            assert_eq!(draw().to_string(), value, "{line}");
        }
        kinds.push(words[1]);
    }
    kinds.dedup();
    assert_eq!(kinds, ["bits", "uniform", "normal"]);
}
