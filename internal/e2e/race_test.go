//go:build race

package e2e

// Under the race detector the binary is some ten times slower.
func init() { buildFlags, shrink = append(buildFlags, "-race"), 4 }
