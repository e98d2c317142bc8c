//! Checks what else runs on the machine.

use crate::Finding;
use tacho_events::run::Load;

pub(crate) fn finding(load: Option<&Load>) -> Finding {
    let Some((load, others)) = load.and_then(|load| Some((load, load.others_cpus()?))) else {
        return Finding::unknown("load", "/proc/stat does not show what others use");
    };
    let average = load.load_average_after.map(|average| format!("load average {average:.2}"));
    let some =
        load.pressure_some_percent.map(|percent| format!("some task waited for a CPU {percent:.0} % of the time"));
    let steal = load.steal_percent.map(|percent| format!("steal {percent:.1} %"));
    let told: Vec<String> = [average, some, steal].into_iter().flatten().collect();
    let of = load.cpus.map_or(String::new(), |cpus| format!(" of {cpus}"));
    let found = format!("for {:.1} s others used {others:.2}{of} CPUs; {}", load.over_s, told.join(", "));
    match load.much() {
        None => Finding::ok("load", found),
        Some(_) => Finding::costs(
            "load",
            found,
            "callbacks wait for a CPU inside and before their work: latency (studies A to C), callback time (D) and \
             reaction time (E) have what others took",
        )
        .mend("end what else runs (ps -eo pcpu,comm --sort=-pcpu | head), or give the nodes CPUs of their own"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn others_cost_beyond_half_a_cpu_and_steal_beyond_one_in_a_hundred() {
        let load = |others: f64, steal: f64| Load {
            over_s: 2.0,
            cpus: Some(4),
            others_cpu_s: Some(others),
            steal_percent: Some(steal),
            ..Load::default()
        };
        assert_eq!(finding(Some(&load(1.0, 1.0))).verdict, Verdict::Ok);
        let busy = finding(Some(&load(3.0, 0.0)));
        assert_eq!(
            (busy.verdict, busy.found.as_str()),
            (Verdict::Costs, "for 2.0 s others used 1.50 of 4 CPUs; steal 0.0 %")
        );
        assert_eq!(finding(Some(&load(0.0, 1.1))).verdict, Verdict::Costs);
        assert_eq!(finding(None).verdict, Verdict::Unknown);
        assert_eq!(finding(Some(&Load { over_s: 2.0, ..Load::default() })).verdict, Verdict::Unknown);
    }
}
