"""The wire protocol, sans-IO."""
