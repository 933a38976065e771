// Package realdebezium starts a real PostgreSQL and a real Debezium for tests:
// Debezium's connector in a worker of Kafka Connect, which writes into a broker
// such as that of internal/realkafka. PostgreSQL is the machine's own (Debian's
// package postgresql); java runs the worker, whose jars Maven fetches the first
// time.
//
// Files: postgres.go runs the database, connect.go the worker.
package realdebezium
