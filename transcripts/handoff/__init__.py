"""Moving a conversation on: where a provider gave up, cutting, trimming, briefing, handing over."""
