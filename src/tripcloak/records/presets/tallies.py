"""Presets of tables of counts between zones: home to work, and trips by phones."""

from __future__ import annotations

from tripcloak.records.presets.preset import Derived, Preset

LODES = Preset(
    name="lodes",
    words="home-to-work tables of the US Census (LODES, OD files) between census blocks",
    like=("ny_od_main_JT00_2021.csv.gz",),
    id_is="person",
    form="counts",
    columns={"origin": ("home block",), "destination": ("work block",), "trips": ("S000",)},
    derived=(
        # Blocks have 15 digits; tables that took them for numbers lost a leading zero.
        Derived(name="home block", sql="lpad(h_geocode::VARCHAR, 15, '0')", needs=("h_geocode",)),
        Derived(name="work block", sql="lpad(w_geocode::VARCHAR, 15, '0')", needs=("w_geocode",)),
    ),
    people_once=True,
    zone_ids=("tabblk2020", "tabblk2010", "GEOID20", "GEOID10", "GEOID"),
    zones="census blocks, or tracts with the first 11 characters of ids, or the crosswalk of LODES",
)

MITMA = Preset(
    name="mitma",
    words="trips between districts or municipalities by the Spanish ministry of transport, from phones",
    like=("20240301_Viajes_distritos.csv.gz", "20200214_maestra_1_mitma_distrito.txt.gz"),
    id_is="person",
    form="counts",
    columns={
        "origin": ("origen", "id_origin"),
        "destination": ("destino", "id_destination"),
        "trips": ("whole trips", "whole n_trips"),
    },
    derived=(
        Derived(
            name="whole trips",
            sql="round(TRY_CAST(replace(viajes::VARCHAR, ',', '.') AS DOUBLE))::VARCHAR",
            needs=("viajes",),
        ),
        # The names of spanishoddata.
        Derived(
            name="whole n_trips",
            sql="round(TRY_CAST(replace(n_trips::VARCHAR, ',', '.') AS DOUBLE))::VARCHAR",
            needs=("n_trips",),
        ),
    ),
    people_once=False,
    zone_ids=("ID",),
    zones="the ministry's zonificacion of the same name",
    unknown_zones=("externo", "external", "NA"),
    notes=(
        "numbers of trips are estimates with decimals; they were rounded to whole trips, so that rows below "
        "a half are dropped as no trips",
    ),
)

INE = Preset(
    name="ine",
    words="people between areas of mobility by the Spanish statistics office, from phones",
    like=("movilidad_20211020.xlsx",),
    id_is="person",
    form="counts",
    columns={
        "origin": ("Código área de residencia", "Código área de origen", "CELDA_ORIGEN", "origin"),
        "destination": ("Código área de destino", "CELDA_DESTINO", "ID_GRUPO_DESTINO", "destination"),
        "trips": ("Flujo", "Flujos", "Flujo origen-destino", "FLUJO", "personas", "persons"),
    },
    zone_ids=("ID_GRUPO",),
    zones="the office's areas of mobility",
)

UK_CENSUS = Preset(
    name="uk-census",
    words="home-to-work tables of the UK census (ODWP01 of 2021, WU03 and others of 2011)",
    like=("ODWP01EW_MSOA.csv", "wu03ew_v2.csv"),
    id_is="person",
    form="counts",
    columns={
        "origin": (
            "Middle layer Super Output Areas code",
            "Lower layer Super Output Areas code",
            "Output Areas code",
            "Lower tier local authorities code",
            "Upper tier local authorities code",
            "Area of residence",
            "Area of usual residence",
        ),
        "destination": (
            "MSOA of workplace code",
            "LSOA of workplace code",
            "OA of workplace code",
            "LTLA of workplace code",
            "UTLA of workplace code",
            "Area of workplace",
        ),
        "trips": ("Count", "All categories: Method of travel to work"),
    },
    people_once=True,
    zone_ids=("MSOA21CD", "LSOA21CD", "OA21CD", "LAD22CD", "msoa11cd", "lsoa11cd", "oa11cd", "LAD11CD"),
    zones="the boundaries of the same areas by the statistics office",
    # No fixed place of work, at home, at sea, abroad.
    unknown_zones=("-8", "OD0000001", "OD0000002", "OD0000003", "OD0000004"),
)

TALLIES = (LODES, MITMA, INE, UK_CENSUS)
