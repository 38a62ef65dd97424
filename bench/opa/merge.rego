# The shipped merge policy, written in Rego for the benchmark: what a team would write that let OPA decide.
#
# data.policy is the shipped document and data.reasons the table of cases, so that neither can drift from ours. The
# evaluator of policies/gates stays the authority; bench/gate.ts checks that both say the same on every input it times.
package portcullis.merge

subject := input.subject.record

mapping := data.policy.mapping

gate := input.definition.record.gate

clock_skew_ms := 5000

# --- Records, each once by digest

records[item.digest] := item.record if {
	some item in input.evidence.items
	item.problem == null
}

of_schema[schema] contains digest if {
	some digest, record in records
	schema := record.schema
}

attempts := object.get(of_schema, "portcullis/check-attempt/v1", set())

results := object.get(of_schema, "portcullis/check-result/v1", set())

runs := object.get(of_schema, "portcullis/verification-run/v1", set())

findings := object.get(of_schema, "portcullis/finding/v1", set())

dispositions := object.get(of_schema, "portcullis/disposition/v1", set())

humans := object.get(of_schema, "portcullis/human-decision/v1", set())

head := subject.producer.resultDigest if subject.change == null

head := subject.change.headDigest if subject.change != null

# --- Case 1: what cannot be trusted

problem_codes := {
	"missing": "evidence_missing_record",
	"tampered": "evidence_tampered",
	"malformed": "evidence_malformed",
}

hits contains hit(problem_codes[item.problem], item.digest, 0) if {
	some item in input.evidence.items
	item.problem != null
}

hits contains hit("evidence_foreign", digest, 0) if {
	some digest, record in records
	not bound(digest, record)
}

hits contains hit("evidence_from_future", digest, 0) if {
	some digest, record in records
	bound(digest, record)
	observed_at(record) > input.asOf + clock_skew_ms
}

hits contains hit("independence_violation", records[digest].runId, 0) if {
	some digest in runs
	related(records[digest].verifier.principal, subject.producer.principal)
}

finding_contents[key] contains digest if {
	some digest in findings
	key := [records[digest].findingId, records[digest].version]
}

hits contains hit("finding_conflict", key[0], 0) if {
	some key, digests in finding_contents
	count(digests) > 1
}

hits contains hit("subject_names_other_policy", input.policy.digest, 0) if {
	subject.gatePolicy.digest != input.policy.digest
}

hits contains hit("subject_names_other_definition", input.definition.digest, 0) if {
	subject.gateDefinition.digest != input.definition.digest
}

hits contains hit("definition_names_other_policy", input.policy.digest, 0) if {
	input.definition.record.policy.digest != input.policy.digest
}

hits contains hit("evaluator_version_other", version, 0) if {
	version := input.definition.record.evaluatorVersion
	version != data.evaluatorVersion
}

hits contains hit("subject_without_required_criteria", head, 0) if count(criteria) == 0

definition_of := {check.checkId: check.definitionDigest | some check in subject.requiredChecks}

prior_digest := {blocker.findingId: blocker.digest | some blocker in subject.priorBlockers}

same_execution(record) if {
	record.executionId == subject.executionId
	record.executionGeneration == subject.executionGeneration
}

bound(digest, record) if {
	record.tenant == subject.tenant
	bound_by_schema(record.schema, digest, record)
}

bound_by_schema("portcullis/check-attempt/v1", _, record) if bound_check(record)

bound_by_schema("portcullis/check-result/v1", _, record) if bound_check(record)

bound_by_schema("portcullis/verification-run/v1", _, record) if {
	record.subjectDigest == input.subject.digest
	same_execution(record)
}

bound_by_schema("portcullis/finding/v1", _, record) if record.subjectDigest == input.subject.digest

bound_by_schema("portcullis/finding/v1", digest, record) if prior_digest[record.findingId] == digest

bound_by_schema("portcullis/disposition/v1", _, record) if {
	record.onSubjectDigest == input.subject.digest
	prior_digest[record.findingId] == record.findingDigest
}

bound_by_schema("portcullis/human-decision/v1", _, record) if record.subjectDigest == input.subject.digest

bound_check(record) if {
	record.head == head
	same_execution(record)
	definition_of[record.checkId] == record.definitionDigest
}

observed_at(record) := record.openedAt if record.schema == "portcullis/check-attempt/v1"

observed_at(record) := record.observedAt if record.schema != "portcullis/check-attempt/v1"

hands(principal) := {principal.id} | {id | some id in principal.lineage}

related(a, b) if count(hands(a) & hands(b)) > 0

root_of(principal) := principal.id if count(principal.lineage) == 0

root_of(principal) := principal.lineage[count(principal.lineage) - 1] if count(principal.lineage) > 0

# --- What this subject has to show

risk_rank := {"low": 0, "moderate": 1, "high": 2, "critical": 3}

reaching contains rule if {
	some rule in data.policy.riskRules
	risk_rank[rule.class] <= risk_rank[subject.risk.class]
}

check_rules contains rule if some rule in data.policy.requiredChecks

check_rules contains rule if {
	some more in reaching
	some rule in more.requiredChecks
}

ruled := {rule.checkId | some rule in data.policy.requiredChecks} | {rule.checkId |
	some more in reaching
	some rule in more.requiredChecks
}

check_rules contains rule if {
	some check in subject.requiredChecks
	not check.checkId in ruled
	rule := {
		"checkId": check.checkId,
		"class": "ordinary",
		"definitionDigestIn": [check.definitionDigest],
		"attestation": "verifier",
		"minExecuted": 0,
		"maxSkipped": 9007199254740991,
		"definitionsUnchanged": false,
		"maxUnanswered": 0,
	}
}

criteria[item.criterionId] := {method | some method in item.methods} if {
	some item in subject.criteria.items
	required(item)
}

required(item) if item.required

required(_) if data.policy.requiredCriteria == "all"

class_rules contains rule if some rule in data.policy.verifierClasses

class_rules contains rule if {
	some more in reaching
	some rule in more.verifierClasses
}

class_min[class] := max({rule.min | some rule in class_rules; rule.class == class}) if {
	some named in class_rules
	class := named.class
}

human_rules contains rule if some rule in data.policy.humans

human_rules contains rule if {
	some more in reaching
	some rule in more.humans
}

role_min[role] := max({rule.min | some rule in human_rules; rule.role == role}) if {
	some named in human_rules
	role := named.role
}

role_self_review contains role if {
	some role, _ in role_min
	every rule in human_rules {
		self_review_unless_other(rule, role)
	}
}

self_review_unless_other(rule, role) if rule.role != role

self_review_unless_other(rule, _) if rule.selfReview

# --- Checks

subject_check := {check.checkId: check | some check in subject.requiredChecks}

results_of[id] contains digest if {
	some digest in results
	id := records[digest].checkId
}

closed contains [records[digest].checkId, records[digest].attempt] if some digest in results

unclosed_of[id] contains digest if {
	some digest in attempts
	id := records[digest].checkId
	not [id, records[digest].attempt] in closed
}

attestation_rank := {"producer": 0, "verifier": 1, "control": 2}

enough_tests(rule, counts) if {
	counts == null
	rule.minExecuted == 0
}

enough_tests(rule, counts) if {
	counts != null
	counts.executed >= rule.minExecuted
	counts.skipped <= rule.maxSkipped
	counts.failed == 0
}

standing(_, result) := result.status if result.status in {"failed", "not_tested"}

standing(_, result) := "inconclusive" if {
	result.status == "inconclusive"
	result.unavailable == null
}

standing(_, result) := "unavailable" if {
	result.status == "inconclusive"
	result.unavailable != null
}

standing(rule, result) := "not_tested" if {
	result.status == "passed"
	not enough_tests(rule, result.counts)
}

standing(rule, result) := "unattested" if {
	result.status == "passed"
	enough_tests(rule, result.counts)
	attestation_rank[result.attestation] < attestation_rank[rule.attestation]
}

standing(rule, result) := "satisfied" if {
	result.status == "passed"
	enough_tests(rule, result.counts)
	attestation_rank[result.attestation] >= attestation_rank[rule.attestation]
}

# By check: every answer as [standing, when, digest].
tally[rule.checkId] contains [standing(rule, records[digest]), records[digest].observedAt, digest] if {
	some rule in check_rules
	some digest in object.get(results_of, rule.checkId, set())
}

tally[rule.checkId] contains ["unavailable", records[digest].openedAt, digest] if {
	some rule in check_rules
	some digest in object.get(unclosed_of, rule.checkId, set())
}

times(id, wanted) := {at |
	some [kind, at, _] in object.get(tally, id, set())
	kind == wanted
}

unanswered_kinds := {"not_tested", "inconclusive", "unavailable"}

unanswered(id) := {[kind, at, digest] |
	some [kind, at, digest] in object.get(tally, id, set())
	kind in unanswered_kinds
}

# By check, once for all rules below.
summary[rule.checkId] := {
	"rule": rule,
	"failed": times(rule.checkId, "failed"),
	"satisfied": times(rule.checkId, "satisfied"),
	"unanswered": unanswered(rule.checkId),
} if {
	some rule in check_rules
	subject_check[rule.checkId]
}

hits contains hit("check_not_in_subject", rule.checkId, 0) if {
	some rule in check_rules
	not subject_check[rule.checkId]
}

hits contains hit("check_definition_not_accepted", rule.checkId, 0) if {
	some rule in check_rules
	not subject_check[rule.checkId].definitionDigest in rule.definitionDigestIn
	subject_check[rule.checkId]
}

hits contains hit("definition_changed", id, 0) if {
	some id, of in summary
	of.rule.definitionsUnchanged
	some digest in results_of[id]
	some file in records[digest].definitions
	file.baseDigest != file.headDigest
}

failure_code := {"ordinary": "check_failed", "security": "security_check_failed"}

hits contains hit(failure_code[of.rule.class], id, max(of.failed)) if {
	some id, of in summary
	count(of.failed) > 0
}

hits contains about("check_unstable", id, max(of.failed), failure_code[of.rule.class]) if {
	some id, of in summary
	count(of.failed) > 0
	some digest in results_of[id]
	records[digest].status == "passed"
}

some_run_passed_everything if {
	some digest in runs
	records[digest].outcome.state == "finished"
	count(records[digest].outcome.rows) > 0
	every row in records[digest].outcome.rows {
		row.status == "passed"
	}
}

hits contains about("check_and_verifier_disagree", id, max(of.failed), failure_code[of.rule.class]) if {
	some_run_passed_everything
	some id, of in summary
	count(of.failed) > 0
}

hits contains hit("evidence_stale", id, 0) if {
	some id, of in summary
	horizon := subject_check[id].horizonSeconds
	horizon != null
	max(of.satisfied) + (horizon * 1000) <= input.asOf
}

hits contains hit("check_unavailable", id, max({at | some [_, at, _] in of.unanswered})) if {
	some id, of in summary
	count(of.satisfied) > 0
	count(of.unanswered) > of.rule.maxUnanswered
}

unsettled contains id if {
	some id, of in summary
	count(of.satisfied) == 0
	count(of.failed) == 0
}

hits contains hit(concat("_", ["check", kind]), id, max(times(id, kind))) if {
	some id in unsettled
	some kind in unanswered_kinds
	count(times(id, kind)) > 0
}

hits contains hit("check_attestation", id, 0) if {
	some id in unsettled
	count(summary[id].unanswered) == 0
	count(times(id, "unattested")) > 0
}

hits contains hit("check_missing", id, 0) if {
	some id in unsettled
	count(summary[id].unanswered) == 0
	count(times(id, "unattested")) == 0
}

# --- Criteria

citable := union({
	{subject.producer.resultDigest, subject.objective.digest, subject.criteria.digest},
	{resource.digest | some resource in subject.resources},
	{artifact.digest | some artifact in subject.artifacts},
	{subject.change.diffDigest | subject.change != null},
	results,
	{ref.digest | some digest in results; some ref in records[digest].refs},
	runs,
	{sealed | some digest in runs; sealed := records[digest].contextManifestDigest; sealed != null},
})

supported(run, row) if {
	class_min[run.verifier.class]
	row.method in criteria[row.criterionId]
	count(row.evidenceRefs) > 0
	count({ref.digest | some ref in row.evidenceRefs} - citable) == 0
}

word(run, row) := row.status if {
	row.status != "passed"
} else := "supported" if {
	supported(run, row)
} else := "unsupported"

# By criterion: what was said, when, by which class. Read through times_said, which makes OPA evaluate it once and whole.
said[id] contains entry if some [id, entry] in rows_said

rows_said := {[row.criterionId, [word(run, row), run.observedAt, run.verifier.class]] |
	some digest in runs
	run := records[digest]
	run.outcome.state == "finished"
	some row in run.outcome.rows
	criteria[row.criterionId]
}

times_said(id, wanted) := {at |
	some [what, at, _] in object.get(said, id, set())
	what == wanted
}

judgements := {"failed", "inconclusive", "supported"}

judging contains digest if {
	some digest in runs
	judges(records[digest])
}

judges(run) if {
	run.outcome.state == "finished"
	some row in run.outcome.rows
	criteria[row.criterionId]
	word(run, row) in judgements
}

unavailable_runs[class] contains records[digest].observedAt if {
	some digest in runs
	records[digest].outcome.state != "finished"
	class := records[digest].verifier.class
}

unavailable_at := {at | some times_of_class in unavailable_runs; some at in times_of_class}

failed_at[id] := max(times_said(id, "failed")) if some id, _ in criteria

supported_criteria contains id if {
	some id, _ in criteria
	count(times_said(id, "supported")) > 0
}

hits contains hit("criterion_failed", id, at) if some id, at in failed_at

hits contains about("criterion_contradicted", id, at, "criterion_failed") if {
	some id, at in failed_at
	id in supported_criteria
}

hits contains hit("security_verifier_failed", id, max(at)) if {
	some id, _ in failed_at
	at := {when | some ["failed", when, "security"] in said[id]}
	count(at) > 0
}

inconclusive_at[id] := max(times_said(id, "inconclusive")) if some id, _ in criteria

hits contains hit("criterion_inconclusive", id, at) if some id, at in inconclusive_at

unjudged contains id if {
	some id, _ in criteria
	not failed_at[id]
	not inconclusive_at[id]
	not id in supported_criteria
}

not_tested_at[id] := max(times_said(id, "not_tested")) if some id in unjudged

hits contains hit("criterion_not_tested", id, at) if some id, at in not_tested_at

hits contains hit("criterion_unavailable", id, max(unavailable_at)) if {
	some id in unjudged
	not not_tested_at[id]
	count(unavailable_at) > 0
}

hits contains hit(code, id, 0) if {
	some id in unjudged
	not not_tested_at[id]
	count(unavailable_at) == 0
	code := unsupported_or_missing(id)
}

unsupported_or_missing(id) := "criterion_unsupported" if {
	count(times_said(id, "unsupported")) > 0
} else := "criterion_missing"

# --- Findings and earlier blockers

finding_code := {true: "security_finding_open", false: "blocker_open"}

hits contains hit(finding_code[finding.type == "security"], finding.findingId, finding.observedAt) if {
	some digest in findings
	finding := records[digest]
	finding.standing == "blocking"
	finding.subjectDigest == input.subject.digest
}

answering contains records[digest].runId if {
	some digest in runs
	records[digest].outcome.state == "finished"
}

said_of_blocker[records[digest].findingId] contains digest if some digest in dispositions

answer_words := {"resolved", "superseded_by_subject_change"}

answers(record) if {
	record.disposition == "superseded_by_subject_change"
	record.runId in answering
	record.supersededBy != null
}

answers(record) if {
	record.disposition == "resolved"
	record.runId in answering
	count(record.evidenceRefs) > 0
	every ref in record.evidenceRefs {
		ref.digest in citable
	}
}

blockers[id] := {
	"words": {records[digest].disposition | some digest in of},
	"answered": count({digest | some digest in of; answers(records[digest])}) > 0,
	"open": {records[digest].observedAt |
		some digest in of
		records[digest].disposition in {"still_present", "not_addressed"}
	},
} if {
	some id, _ in prior_digest
	of := object.get(said_of_blocker, id, set())
}

hits contains hit("prior_blocker_open", id, max(of.open)) if {
	some id, of in blockers
	count(of.open) > 0
}

hits contains about("disposition_contradicted", id, max(of.open), "prior_blocker_open") if {
	some id, of in blockers
	"still_present" in of.words
	of.answered
}

hits contains hit(code, id, 0) if {
	some id, of in blockers
	count(of.open) == 0
	not of.answered
	not "human_required" in of.words
	code := unanswered_code(of.words)
}

unanswered_code(words) := "resolution_unsupported" if {
	count(words & answer_words) > 0
} else := "prior_blocker_not_addressed"

hits contains hit("blocker_needs_human", id, 0) if {
	some id, of in blockers
	"human_required" in of.words
	count(approvals) == 0
}

# --- People

here contains digest if {
	some digest in humans
	records[digest].gate == gate
}

in_force contains digest if {
	some digest in here
	records[digest].policyRevision == input.policy.record.revision
	unexpired(records[digest])
}

unexpired(decision) if decision.expiresAt == null

unexpired(decision) if decision.expiresAt > input.asOf

own(decision) if related(decision.principal, subject.producer.principal)

may_fill(decision, role) if {
	decision.role == role
	not own(decision)
}

may_fill(decision, role) if {
	decision.role == role
	role in role_self_review
	decision.selfReview
}

approvals contains digest if {
	some digest in in_force
	records[digest].decision == "approve"
	may_approve(records[digest])
}

may_approve(decision) if not own(decision)

may_approve(decision) if may_fill(decision, decision.role)

overrides contains digest if {
	some digest in in_force
	records[digest].decision == "override"
	not own(records[digest])
}

rejections contains digest if {
	some digest in here
	records[digest].decision == "reject"
}

hits contains hit("human_rejected", records[digest].principal.id, records[digest].observedAt) if some digest in rejections

hits contains about("humans_disagree", records[digest].principal.id, records[digest].observedAt, "human_rejected") if {
	some digest in rejections
	some other in in_force
	records[other].decision != "reject"
}

# --- Seats: with at most two verifier classes and one role, Hall's condition can be written out

roots_of_class[class] contains root_of(records[digest].verifier.principal) if {
	some digest in judging
	class := records[digest].verifier.class
}

class_roots(class) := object.get(roots_of_class, class, set())

empty_class contains class if {
	some class, min in class_min
	count(class_roots(class)) < min
}

# Each could fill its own seats, but the same hands would sit in both: the later one stays empty.
empty_class contains max([one, other]) if {
	some one, min_one in class_min
	some other, min_other in class_min
	one < other
	count(class_roots(one)) >= min_one
	count(class_roots(other)) >= min_other
	count(class_roots(one) | class_roots(other)) < min_one + min_other
}

hits contains hit("verifier_missing", class, 0) if {
	some class in empty_class
	not unavailable_runs[class]
}

hits contains hit("verifier_unavailable", class, max(unavailable_runs[class])) if some class in empty_class

role_roots(role) := {root_of(records[digest].principal) |
	some digest in approvals
	may_fill(records[digest], role)
}

hits contains hit("human_missing", role, 0) if {
	some role, min in role_min
	count(role_roots(role)) < min
}

hits contains hit("human_missing", role, 0) if {
	some role, min in role_min
	count(empty_class) == 0
	seated := sum([seats | some seats in class_min])
	hands_of_classes := union({class_roots(class) | some class, _ in class_min})
	count(role_roots(role) | hands_of_classes) < min + seated
}

authorities := {sprintf("grant:%s@%d", [run.grant.id, run.grant.revision]) |
	some digest in judging
	run := records[digest]
} | {concat(":", ["principal", records[digest].verifier.principal.id]) | some digest in judging} | {concat(":", ["principal", records[digest].principal.id]) |
	some digest in approvals | overrides
}

hits contains hit("evidence_too_much", sprintf("%d grants and principals", [count(authorities)]), 0) if {
	count(authorities) > 2000
}

# --- Overrides, precedence, decision

hit(code, ref, at) := {"code": code, "ref": ref, "at": at, "about": null}

about(code, ref, at, failure) := {"code": code, "ref": ref, "at": at, "about": failure}

cover[rule.case] := at if {
	some rule in data.policy.overrides
	newest := newest_by_person(rule)
	at := sort([when | some when in newest])[count(newest) - rule.min]
}

newest_by_person(rule) := {person: max(times_of_person) |
	some person in {root_of(records[digest].principal) | some digest in overrides; covers(rule, records[digest])}
	times_of_person := {records[digest].observedAt |
		some digest in overrides
		covers(rule, records[digest])
		root_of(records[digest].principal) == person
	}
}

covers(rule, decision) if {
	decision.case == rule.case
	decision.role == rule.role
}

overridden_alone(of) if of.at <= cover[data.reasons[of.code].case]

live contains [of.code, of.ref] if {
	some of in hits
	not overridden_alone(of)
}

lifted contains [of.code, of.ref] if {
	some of in hits
	of.about != null
	not [of.about, of.ref] in live
}

reasons := {{"code": of.code, "ref": of.ref, "overridden": overridden(of)} | some of in hits}

overridden(of) if [of.code, of.ref] in lifted
else if not [of.code, of.ref] in live
else := false

outcome(rule) := rule if is_string(rule)

outcome(rule) := mapping[rule.mapping] if is_object(rule)

outcomes_of_case[row.case] contains outcome(row.outcome) if {
	some reason in reasons
	not reason.overridden
	row := data.reasons[reason.code]
}

first_case := [name | some name in data.cases; outcomes_of_case[name]][0]

strictest(outcomes) := "blocked" if {
	"blocked" in outcomes
} else := "human_required" if {
	"human_required" in outcomes
} else := "rework"

default decision := "pass"

decision := strictest(outcomes_of_case[first_case])

evaluation := {"decision": decision, "reasons": reasons}
