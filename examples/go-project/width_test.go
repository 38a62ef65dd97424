package width

import "testing"

func TestLettersAreCountedOnce(t *testing.T) {
	if seen := Characters("portcullis"); seen != 10 {
		t.Fatalf("saw %d characters", seen)
	}
}

func TestAFlagIsOneCharacter(t *testing.T) {
	if seen := Characters("🇩🇪🏳️‍🌈"); seen != 2 {
		t.Fatalf("saw %d characters", seen)
	}
}
