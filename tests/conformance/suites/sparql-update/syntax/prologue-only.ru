PREFIX : <http://example.org/>
BASE <http://example.org/> PREFIX x: <http://x.example/>
