package planner

// Table is the table of that name in the session's catalog, or nil.
func (s *Session) Table(name string) *Table { return s.catalog.tables[name] }

// Tables are the names of the session's tables, in order.
func (s *Session) Tables() []string { return s.catalog.tableNames() }

// Views are the names of the session's views, in order.
func (s *Session) Views() []string { return s.catalog.viewNames() }
