"""How good a picture is: measures that know arrays, not methods."""
