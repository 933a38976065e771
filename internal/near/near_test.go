package near

import "testing"

func TestName(t *testing.T) {
	known := []string{"SELECT", "FROM", "WHERE", "topic", "topic-pattern", "scan.startup.mode", "id"}
	for word, want := range map[string]string{
		"SELCT":            "SELECT",
		"slect":            "SELECT",
		"FORM":             "FROM",
		"topics":           "topic",
		"topicpattern":     "topic-pattern",
		"scan.startup-mod": "scan.startup.mode",
		"di":               "id",
		"x":                "",
		"":                 "",
		"frobnicate":       "",
		"größe":            "",
	} {
		if got := Name(word, known); got != want {
			t.Errorf("Name(%q) = %q, want %q", word, got, want)
		}
	}
}
