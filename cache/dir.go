package cache

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }
