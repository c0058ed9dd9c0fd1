"""The HTTP level: recorded traffic replayed under the real client, and a stand-in for the API."""
