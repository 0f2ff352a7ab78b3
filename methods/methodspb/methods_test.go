package methodspb

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// TestSamplingIsOne: the store's form of Sampling differs from the plugins' in how
// the seed is written, and in nothing else.
func TestSamplingIsOne(t *testing.T) {
	sent, stored := (&Sampling{}).ProtoReflect().Descriptor().Fields(), (&StoredSampling{}).ProtoReflect().Descriptor().Fields()
	if sent.Len() != stored.Len() {
		t.Fatalf("%d fields are sent, %d stored", sent.Len(), stored.Len())
	}
	for i := range sent.Len() {
		a, b := sent.Get(i), stored.Get(i)
		written := a.Kind() == b.Kind() || a.Name() == "seed" && b.Kind() == protoreflect.Fixed64Kind
		if a.Name() != b.Name() || a.Number() != b.Number() || a.Cardinality() != b.Cardinality() || !written {
			t.Errorf("%v is sent, %v is stored", a, b)
		}
	}
}
