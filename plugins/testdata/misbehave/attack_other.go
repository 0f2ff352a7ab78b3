//go:build !amd64

package main

func oldNames() map[string]uintptr { return nil }

func otherConventions(string) map[string]func() error { return map[string]func() error{} }
