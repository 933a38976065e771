// Package e2e holds end-to-end tests of the sluice binary against a real Apache
// Kafka, as internal/realkafka starts it. They see what users see: exit codes,
// standard output and error, and the records in output topics.
//
// Files: main_test.go builds the binary, process_test.go runs it, topics_test.go
// fills and reads topics, workload_test.go has the pipeline that most tests run;
// every other file is a story: captures, kill, stop, cluster, badinput, latency,
// tables, modes, debezium (a live database).
package e2e
