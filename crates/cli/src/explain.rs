//! `tacho explain`

use crate::exit::{Failure, Outcome};
use crate::options::Explain;
use crate::{analysis, runs};
use anyhow::Context;
use std::io::Write;
use tacho_events::run::RunDirectory;
use tacho_figures::limits::{judge, Limit, Verdict};
use tacho_printing::{Lines, Screen};
use tacho_report::Terminal;
use tacho_tables::summary::{ChainFigures, Finding, Summary};
use tacho_tables::LinkRule;
use tacho_workload::links::{self, Between, Links, Rule, StatedChain, StatedLink};

pub fn run(options: Explain) -> Outcome {
    let run = runs::open(&options.run)?;
    let way = way(&options);
    let mut summary = figures(&run, &options, way.as_ref())?;
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
        let text = format!(
            "{}: its summary is of a sweep or an older tacho and has no findings; explain a point of it, or remove {}, \
             and tacho explain analyses its events again",
            run.path().display(),
            run.summary().display()
        );
        return Err(Failure::Usage(text));
    }
    if found.is_empty() && kept {
        Ok(())
    } else {
        Err(Failure::Code(1))
    }
}

/// The chain that `--from` and `--to` ask for; late is what takes longer than the limit.
fn way(options: &Explain) -> Option<StatedChain> {
    let (from, to) = options.from.clone().zip(options.to.clone())?;
    let deadline = options.limit.iter().find_map(Limit::of_instances);
    Some(StatedChain {
        name: format!("{from} to {to}"),
        nodes: Vec::new(),
        between: Some(Between { from, to }),
        deadline,
    })
}

/// A usage error, with what the run says of it, where nothing leads that way.
fn found(way: &StatedChain, summary: &Summary) -> Outcome {
    if summary.chains.iter().any(|chain| chain.name == way.name) {
        return Ok(());
    }
    let why = ["chain-not-found", "no-callback-events", "clocks-not-related"];
    let notes =
        summary.notes.iter().filter(|note| why.contains(&note.name.as_str())).map(|note| format!("; {}", note.text));
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
        return Err(Failure::Usage(format!(
            "{}: its figures name no nodes; of a sweep, explain a point",
            run.path().display()
        )));
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

/// The figures of a run, with what a links file and the way that is asked for state; reading a run never changes it.
fn figures(run: &RunDirectory, options: &Explain, way: Option<&StatedChain>) -> Result<Summary, Failure> {
    if !run.summary().is_file() && run.info().is_ok_and(|info| info.verb == "import") {
        let path = run.path().display();
        eprintln!(
            "tacho: {path}: its import was ended before its analysis: no tables, no summary.json; \
             tacho report {path} completes it"
        );
    }
    let mut stated = match options.links.as_deref() {
        Some(path) => Some(links::parse(&runs::read_text(path)?, &path.display().to_string())?),
        None => None,
    };
    if let Some(way) = way {
        stated.get_or_insert_with(Links::default).chains.push(way.clone());
    }
    analysis::shown(|progress| {
        tacho_figures::read_figures(run, stated.as_ref(), options.counted.window().as_ref(), progress)
    })
}

/// The links of all chains, each once, as a links file.
fn suggestion(summary: &Summary) -> String {
    let mut links: Vec<(StatedLink, String)> = Vec::new();
    for link in summary.chains.iter().flat_map(|chain| &chain.links) {
        let Some(output) = &link.output else { continue };
        let rule = match link.rule {
            LinkRule::HeaderStamp => Rule::HeaderStamp,
            LinkRule::SameCallback => Rule::SameCallback,
            LinkRule::Latest => Rule::Latest,
            LinkRule::LatestOnce => Rule::LatestOnce,
            LinkRule::Match => Rule::Match,
            LinkRule::Unrelated => Rule::Unrelated,
        };
        let stated = StatedLink { node: link.node.clone(), input: link.input.clone(), output: output.clone(), rule };
        if links.iter().all(|(known, _)| *known != stated) {
            let remark = format!(
                "{}{}, confidence {:.2}, {} of {} outputs",
                if link.guess { "a guess, " } else { "" },
                link.evidence.word(),
                link.confidence,
                link.followed,
                link.outputs
            );
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

/// Prints what a recording ends with: the verdict, and of a run without one its figures. JSON goes to stdout.
pub fn conclude(
    run: &RunDirectory,
    summary: &Summary,
    json: bool,
    out: &mut impl Write,
    terminal: Terminal,
) -> Outcome {
    if json {
        return runs::print_json(summary);
    }
    let info = run.info().context("run.json")?;
    let text = terminal.closing(summary, &info).unwrap_or_else(|| terminal.explain(summary, &info));
    runs::print_to(out, &Lines::composed(&text))
}

fn show_chain(run: &RunDirectory, summary: &Summary, chain: Option<&str>, json: bool, terminal: Terminal) -> Outcome {
    if json {
        return runs::print_json(summary);
    }
    let info = run.info().context("run.json")?;
    runs::print(&Lines::composed(&terminal.explain_chain(summary, &info, chain)))
}

/// How text is laid out on stderr.
pub fn terminal_of_stderr() -> Terminal {
    laid_out(tacho_printing::stderr_screen())
}

/// How text is laid out on stdout.
pub fn terminal() -> Terminal {
    laid_out(tacho_printing::stdout_screen())
}

fn laid_out(screen: Option<Screen>) -> Terminal {
    let unknown = Terminal::default();
    screen.map_or(unknown, |Screen { columns, colour }| Terminal {
        width: columns.unwrap_or(unknown.width),
        colour,
        ..unknown
    })
}
