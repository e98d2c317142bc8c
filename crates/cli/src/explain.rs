//! `tacho explain`

use crate::exit::{Failure, Outcome};
use crate::options::Explain;
use crate::{analysis, runs};
use anyhow::Context;
use std::io::IsTerminal;
use std::os::fd::AsRawFd;
use std::path::Path;
use tacho_analysis::figures::limits::{judge, Limit, Verdict};
use tacho_analysis::summary::{ChainFigures, Finding, Summary};
use tacho_analysis::tables::LinkRule;
use tacho_events::run::RunDirectory;
use tacho_printing::Lines;
use tacho_report::Terminal;
use tacho_workload::links::{self, Between, Links, Rule, StatedChain, StatedLink};

pub fn run(options: Explain) -> Outcome {
    let run = runs::open(&options.run)?;
    let way = way(&options);
    let mut summary = figures(&run, options.links.as_deref(), way.as_ref())?;
    if options.suggest {
        return runs::print(&Lines::composed(&suggestion(&summary)));
    }
    if let Some(findings) = &mut summary.findings {
        findings.retain(|finding| !options.allow.contains(&finding.lint));
    }
    if let Some(name) = &options.chain {
        known_chain(&summary, name)?;
    }
    if let Some(way) = &way {
        found(way, &summary)?;
    }
    let mut chain = way.map(|way| way.name).or(options.chain);
    if let Some(node) = &options.node {
        of_node(&mut summary, node, &run)?;
        if chain.is_none() && !summary.chains.iter().any(|chain| chain.critical) {
            chain = worst(&summary).map(str::to_owned);
        }
    }
    let terminal = Terminal { whole: options.all || options.node.is_some(), ..terminal() };
    show_chain(&run, &summary, chain.as_deref(), options.json, terminal)?;
    let kept = limits(&options.limit, chain.as_deref(), &summary)?;
    let denied = |finding: &&Finding| options.deny.contains(&finding.lint);
    let found: Vec<&Finding> = summary.findings.iter().flatten().filter(denied).collect();
    for finding in &found {
        eprintln!("tacho: denied: {} ({})", finding.lint, finding.count);
    }
    if !options.deny.is_empty() && summary.findings.is_none() {
        let text = format!("{}: its summary is of a sweep or an older tacho and has no findings; explain a point of it, or analyse it anew", run.path().display());
        return Err(Failure::Usage(text));
    }
    if found.is_empty() && kept { Ok(()) } else { Err(Failure::Code(1)) }
}

/// The chain that `--from` and `--to` ask for; late is what takes longer than the limit.
fn way(options: &Explain) -> Option<StatedChain> {
    let (from, to) = options.from.clone().zip(options.to.clone())?;
    let deadline = options.limit.iter().find_map(Limit::of_instances);
    Some(StatedChain { name: format!("{from} to {to}"), nodes: Vec::new(), between: Some(Between { from, to }), deadline })
}

/// A usage error, with what the run says of it, where nothing leads that way.
fn found(way: &StatedChain, summary: &Summary) -> Outcome {
    if summary.chains.iter().any(|chain| chain.name == way.name) {
        return Ok(());
    }
    let why = ["chain-not-found", "no-callback-events", "clocks-not-related"];
    let notes = summary.notes.iter().filter(|note| why.contains(&note.name.as_str())).map(|note| format!("; {}", note.text));
    Err(Failure::Usage(format!("{}: no chain{}", way.name, notes.collect::<String>())))
}

/// Leaves what concerns nodes of this name; a usage error where there are none, with those that there are.
fn of_node(summary: &mut Summary, name: &str, run: &RunDirectory) -> Outcome {
    let mut names: Vec<String> = summary.nodes().map(str::to_owned).collect();
    if !summary.leave_nodes(name).is_empty() {
        return Ok(());
    }
    names.sort();
    names.dedup();
    if names.is_empty() {
        return Err(Failure::Usage(format!("{}: its figures name no nodes; of a sweep, explain a point", run.path().display())));
    }
    let more = if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
    names.truncate(20);
    Err(Failure::Usage(format!("no node has {name} in its name; there are: {}{more}", names.join(", "))))
}

/// The chain with the highest worst case.
fn worst(summary: &Summary) -> Option<&str> {
    let worst = |chain: &&ChainFigures| chain.end_to_end_ms.as_ref().map_or(f64::NEG_INFINITY, |d| d.max);
    summary.chains.iter().max_by(|a, b| worst(a).total_cmp(&worst(b))).map(|chain| chain.name.as_str())
}

/// Says of each limit whether it was kept, of the chain of this name or the critical one; whether all were.
fn limits(limits: &[Limit], chain: Option<&str>, summary: &Summary) -> Result<bool, Failure> {
    if limits.is_empty() {
        return Ok(true);
    }
    let critical = summary.chains.iter().find(|chain| chain.critical).map(|chain| chain.name.as_str());
    let Some(name) = chain.or(critical) else {
        return Err(Failure::Usage("no chain was seen in this run: there is nothing to limit".into()));
    };
    let verdicts: Vec<Verdict> = limits.iter().map(|limit| judge(limit, name, &summary.chains)).collect();
    verdicts.iter().for_each(|verdict| eprintln!("tacho: {}", verdict.text));
    Ok(verdicts.iter().all(|verdict| verdict.kept))
}

/// A usage error where no chain has this name.
fn known_chain(summary: &Summary, name: &str) -> Outcome {
    if summary.chains.iter().any(|chain| chain.name == name) {
        return Ok(());
    }
    let names: Vec<&str> = summary.chains.iter().take(20).map(|chain| chain.name.as_str()).collect();
    Err(Failure::Usage(format!("no chain is called {name}; there are: {}", names.join(", "))))
}

/// The figures of a run: as they stand in it, or, where it ended before they were written or a links file says otherwise, analysed
/// now; reading a run never changes it.
fn figures(run: &RunDirectory, links: Option<&Path>, way: Option<&StatedChain>) -> Result<Summary, Failure> {
    // A sweep that runs, or was killed, has points that its own figures do not tell yet.
    let told = run.points()?.is_empty() || run.info().is_ok_and(|info| !info.cut_short);
    if run.summary().is_file() && told && links.is_none() && way.is_none() {
        return Ok(tacho_analysis::store::read_summary(run).context("figures of the run")?);
    }
    if !run.points()?.is_empty() {
        if links.is_some() || way.is_some() {
            return Err(Failure::Usage(format!("{0}: this run is a sweep; ask that of {0}/points/NAME", run.path().display())));
        }
        return Ok(tacho_analysis::merge_points(run).context("figures of the sweep")?);
    }
    if !run.summary().is_file() && run.info().is_ok_and(|info| info.verb == "import") {
        let path = run.path().display();
        eprintln!("tacho: {path}: its import was ended before its analysis: no tables, no summary.json; tacho report {path} completes it");
    }
    let mut stated = match links {
        Some(path) => tacho_workload::links::parse(&runs::read_text(path)?, &path.display().to_string())?,
        None => Links::default(),
    };
    stated.chains.extend(way.cloned());
    let workload = runs::workload(run)?;
    analysis::shown(|progress| tacho_analysis::figures_with(run, workload.as_ref(), &stated, progress))
}

/// The links of all chains, each once, as a links file.
fn suggestion(summary: &Summary) -> String {
    let mut links: Vec<(StatedLink, String)> = Vec::new();
    for link in summary.chains.iter().flat_map(|chain| &chain.links) {
        let Some(output) = &link.output else { continue };
        let rule = match link.rule {
            LinkRule::SameCallback => Rule::SameCallback,
            LinkRule::Latest => Rule::Latest,
            LinkRule::Match => Rule::Match,
            LinkRule::Unrelated => Rule::Unrelated,
        };
        let stated = StatedLink { node: link.node.clone(), input: link.input.clone(), output: output.clone(), rule };
        if links.iter().all(|(known, _)| *known != stated) {
            let remark = format!("{}, confidence {:.2}, {} of {} outputs", link.evidence.word(), link.confidence, link.followed, link.outputs);
            links.push((stated, remark));
        }
    }
    links.sort_by(|(a, _), (b, _)| (&a.node, &a.output, &a.input).cmp(&(&b.node, &b.output, &b.input)));
    links::write(&links)
}

/// Prints figures as asked for.
pub fn show(run: &RunDirectory, summary: &Summary, json: bool) -> Outcome {
    show_chain(run, summary, None, json, terminal())
}

/// Prints the figures of a recorded program on stderr, because stdout is the program's. JSON was asked for, and goes to stdout.
pub fn show_beside_program(run: &RunDirectory, summary: &Summary, json: bool) -> Outcome {
    if json {
        return runs::print_json(summary);
    }
    let info = run.info().context("run.json")?;
    let text = terminal_of(&std::io::stderr()).explain_chain(summary, &info, None);
    runs::print_to(&mut std::io::stderr(), &Lines::composed(&text))
}

fn show_chain(run: &RunDirectory, summary: &Summary, chain: Option<&str>, json: bool, terminal: Terminal) -> Outcome {
    if json {
        return runs::print_json(summary);
    }
    let info = run.info().context("run.json")?;
    runs::print(&Lines::composed(&terminal.explain_chain(summary, &info, chain)))
}

/// How text is laid out on stdout.
pub fn terminal() -> Terminal {
    terminal_of(&std::io::stdout())
}

/// How text is laid out there: as wide as the terminal, and in colour unless NO_COLOR says otherwise.
fn terminal_of(output: &(impl IsTerminal + AsRawFd)) -> Terminal {
    if !output.is_terminal() {
        return Terminal::default();
    }
    // SAFETY: the request fills the structure that it is given.
    let columns = unsafe {
        let mut size: libc::winsize = std::mem::zeroed();
        (libc::ioctl(output.as_raw_fd(), libc::TIOCGWINSZ, &mut size) == 0 && size.ws_col > 0).then_some(size.ws_col as usize)
    };
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Terminal { width: columns.unwrap_or(Terminal::default().width), colour, whole: false }
}
