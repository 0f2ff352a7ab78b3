package builtin

import (
	"os"

	"noema/kernel/base/redact"
)

// Redactor takes the user's keys out of texts: those of the environment and those
// of .env, also where the environment has another of the same name. It is made
// after [LoadEnvFile], which reports a faulty .env.
func Redactor() *redact.Redactor {
	names, _ := providerVariables()
	environment := os.Environ()
	if path, _, err := FindUpward(".env"); err == nil && path != "" {
		if file, err := readEnvFile(path); err == nil {
			for name, value := range file {
				environment = append(environment, name+"="+value)
			}
		}
	}
	return redact.New(redact.Variables(environment, names))
}
