// Package text writes and reads the string form of every SQL type, as Flink SQL's CAST does, and holds the
// calendar that this takes.
//
// Where Flink's own form is undefined or wrong: years above 9999 are written with all their digits, years
// before 1 as astronomical years with a minus sign (-0001 is 2 BC); dates before 1970 count back from the
// epoch by whole days.
package text
