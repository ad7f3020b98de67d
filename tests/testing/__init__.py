"""What the tests are made with: installations, servers, archives, sources, sweeps."""
