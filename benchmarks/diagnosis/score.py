# SPDX-License-Identifier: Apache-2.0
"""Where in a diagnosis the truth stands."""

from faults import Truth


def accusations(explained: dict) -> list[str]:
    """What `tacho explain --json` blames, in the order in which a reader meets it: the verdict's culprits, then cases of findings, the worst of
    each first."""
    texts = [
        # Not the whole path of the file, in which the kind of fault stands.
        " ".join(str(value) for key, value in culprit.items() if key != "location")
        for culprit in explained.get("verdict", {}).get("culprits", [])
    ]
    findings = explained.get("findings", [])
    most = max((len(finding["cases"]) for finding in findings), default=0)
    for place in range(most):
        for finding in findings:
            if place < len(finding["cases"]):
                case = finding["cases"][place]
                texts.append(" ".join([finding["lint"], case["subject"], case["evidence"], case["cost"], case["next"]]))
    return texts


def place(truth: Truth, explained: dict) -> int | None:
    """The place, from 1, of the first accusation that names the node and the culprit, and says the kind; None: none does."""
    for number, text in enumerate(accusations(explained), 1):
        lower = text.lower().replace("_", " ")
        named = truth.node in text and (truth.culprit == "burner" or truth.culprit in text)
        if named and any(word.lower() in lower for word in truth.words):
            return number
    return None


def row(found: dict) -> str:
    """A line of the table."""
    place = found["error"] or (found["place"] or "not named" if found["kind"] else "")
    words = [found["nodes"], found["kind"] or "healthy", found["seed"], found["culprit"], place, found["first"]]
    return "| " + " | ".join(str(word).replace("|", "/").replace("\n", " ") for word in words) + " |"


def figures(rows: list[dict]) -> list[dict]:
    """What `make bench` prints. A system that was not explained counts as one whose culprit was not named."""
    faulty = [row for row in rows if row["kind"]]
    sound = [row for row in rows if not row["kind"] and not row["error"]]
    named = [row["place"] for row in faulty if row["place"]]
    made = []
    for name, count, of, goal in [
        ("diagnosis_first", sum(place == 1 for place in named), len(faulty), ">= 90 %"),
        ("diagnosis_first_three", sum(place <= 3 for place in named), len(faulty), ">= 99 %"),
        ("diagnosis_false_alarms", sum(bool(row["first"]) for row in sound), len(sound), "<= 5 %"),
    ]:
        if of:
            percent = 100 * count / of
            peer = {"peer": of, "peer_name": "systems", "ratio": count / of}
            made.append({"name": name, "ours": percent, **peer, "unit": "%", "goal": goal})
    return made
