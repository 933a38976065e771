// Package cdcbench is the workload that every figure of this project is measured
// on: two tables, users and domains, as Debezium would capture them, the exact
// result that their join must have, a verifier for output topics and a latency
// probe.
//
//	users(id, firstname, lastname)          N rows
//	domains(id, user_id, domain_name)      3N rows, 2 % of which point to no user
//
// A workload is a snapshot of both tables (op r) followed by changes: 60 % user
// updates, 15 % domain updates that keep the join key, 5 % that change it, 10 %
// domain deletes, each followed by a tombstone, 2 % user inserts and 8 % domain
// inserts. It is deterministic: a size and a seed give the same bytes everywhere.
//
// Files: size.go has the presets, model.go the tables and their changes,
// envelope.go their form in Kafka, expected.go the join's result, load.go writes
// a workload, verify.go checks an output topic, latency.go probes.
package cdcbench
