//go:build !unix

package durable

// CheckWritable says nothing here: permissions are not in the file's mode.
func (r *Root) CheckWritable(string) error { return nil }
